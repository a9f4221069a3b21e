// Prints the library's tables for each operator, one JSON object per line, for operators_page.py. usage:
// mnn_c_operator_table CASES_FOLDER
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "backends/cpu/ops/table.h"
#include "base/error.h"
#include "ops/op_def.h"
#include "session/interpreter.h"
#ifdef MNN_C_WITH_VULKAN
#include "backends/vulkan/ops/table.h"
#endif

namespace mnnc {
namespace {

constexpr OpType kTypes[] = {
#define OPERATOR(name, number, ...) OpType::name,
#include "base/operators.def"
#undef OPERATOR
};

// Counts the models of cases that contain each operator.
std::map<OpType, int> countCases(const std::filesystem::path& cases) {
    std::map<OpType, int> counts;
    for (const auto& entry : std::filesystem::directory_iterator(cases)) {
        const std::string path = entry.path() / "model.mnn";
        ModelOptions options;
        options.modelPath = path;
        const Interpreter interpreter(ModelBytes::fromFile(path.c_str()), options);
        std::set<OpType> types;
        for (const NetGraph& graph : interpreter.net->graphs)
            for (const Node& node : graph.nodes) types.insert(node.type);
        for (const OpType type : types) ++counts[type];
    }
    return counts;
}

const char* cpuWay(OpType type, const OpDef* def) {
    if (!def) return "none";
    if (type == OpType::If || type == OpType::While) return "session";
    if (cpu::findCpuOp(type)) return "kernel";
    constexpr OpType kValues[] = {OpType::Const, OpType::Input, OpType::TrainableParam,
                                  OpType::Rank,  OpType::Shape, OpType::Size};
    return std::find(std::begin(kValues), std::end(kValues), type) != std::end(kValues) ? "values" : "commands";
}

bool hasVulkanKernel([[maybe_unused]] OpType type) {
#ifdef MNN_C_WITH_VULKAN
    return vulkan::findVulkanOp(type) != nullptr;
#else
    return false;
#endif
}

void print(OpType type, int cases) {
    const OpDef* def = findOpDef(type);
    const cpu::CpuOp* cpu = cpu::findCpuOp(type);
    std::printf("{\"number\": %d, \"name\": \"%s\", \"cpu\": \"%s\", \"int8\": %s, \"vulkan\": %s, \"cases\": %d}\n",
                static_cast<int>(type), opTypeName(type), cpuWay(type, def), cpu && cpu->canQuantize ? "true" : "false",
                hasVulkanKernel(type) ? "true" : "false", cases);
}

}  // namespace
}  // namespace mnnc

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s CASES_FOLDER\n", argv[0]);
        return 2;
    }
    try {
        const std::map<mnnc::OpType, int> counts = mnnc::countCases(argv[1]);
        for (const mnnc::OpType type : mnnc::kTypes) mnnc::print(type, counts.count(type) ? counts.at(type) : 0);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
