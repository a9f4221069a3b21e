// Parses shapes, and turns flags into the configuration of a session.
#include "flags.h"

#include <fstream>
#include <sstream>

#include "backend_list.h"
#include "base/os/paths.h"
#include "common.h"
#include "text.h"

namespace tool {
namespace {

std::vector<int64_t> parseShape(const std::string& text) {
    std::vector<int64_t> dims;
    std::istringstream stream(text + 'x');
    for (std::string part; std::getline(stream, part, 'x');) {
        if (part.empty() || part.size() > 9 || part.find_first_not_of("0123456789") != std::string::npos)
            throw UsageError(fmt::format("'{}' is no shape; write 1x3x224x224", text));
        dims.push_back(std::stol(part));
    }
    return dims;
}

}  // namespace

void CommonFlags::checkTogether() const {
    const auto refuse = [](const char* reason) {
        throw UsageError(fmt::format("{}: give --backend {}", reason, kGpuBackend.name));
    };
    if (!cpuCosts.empty() && !std::ifstream(mnnc::os::pathOf(cpuCosts)))
        throw UsageError(fmt::format("--cpu-costs: cannot read '{}'", cpuCosts));
    if (validate && !findBackend(backend)->isGpu) refuse("--validate checks the calls of a GPU's driver");
    if (backend == "cpu" && !device.empty()) refuse("--device chooses a GPU");
    if (backend == "cpu" && !gpuMode.empty()) refuse("--gpu-mode is about a GPU");
    if (backend == "cpu" && !gpuTuning.empty()) refuse("--gpu-tuning is about a GPU");
    if (tuningOperators > 0 && (gpuTuning.empty() || gpuTuning == "none"))
        throw UsageError("--tuning-operators limits what --gpu-tuning measures: give that, too");
}

mnn_schedule_config_t CommonFlags::config() const {
    mnn_schedule_config_t config;
    check(mnn_schedule_config_init(&config, sizeof config));
    config.record_plan = measureAlgorithms ? 2 : recordPlan ? 1 : 0;
    config.threads = threads;
    config.cpu_isa = isa.empty() ? nullptr : isa.c_str();
    config.forward_type = findBackend(backend)->forwardType;
    if (precision == "low") config.precision = MNN_PRECISION_LOW;
    if (precision == "high") config.precision = MNN_PRECISION_HIGH;
    if (memory == "low") config.memory = MNN_MEMORY_LOW;
    if (memory == "high") config.memory = MNN_MEMORY_HIGH;
    if (!device.empty()) config.device = device.c_str();
    if (gpuMode == "direct") config.gpu_mode = MNN_GPU_RECORD_OP;
    if (gpuMode == "indirect") config.gpu_mode = MNN_GPU_RECORD_BATCH;
    if (gpuTuning == "fast") config.gpu_mode |= MNN_GPU_TUNING_FAST;
    if (gpuTuning == "normal") config.gpu_mode |= MNN_GPU_TUNING_NORMAL;
    if (gpuTuning == "wide") config.gpu_mode |= MNN_GPU_TUNING_WIDE;
    if (gpuTuning == "heavy") config.gpu_mode |= MNN_GPU_TUNING_HEAVY;
    config.tuning_operators = tuningOperators;
    return config;
}

InputShapes CommonFlags::parsedShapes() const {
    InputShapes parsed;
    for (const std::string& shape : shapes) {
        const size_t equals = shape.rfind('=');
        if (equals == std::string::npos)
            throw UsageError(fmt::format("--shape '{}' has no name; write name=1x3x224x224", shape));
        const std::string name = shape.substr(0, equals);
        if (!parsed.emplace(name, parseShape(shape.substr(equals + 1))).second)
            throw UsageError(fmt::format("--shape gives '{}' two shapes", name));
    }
    return parsed;
}

}  // namespace tool
