// mnn convert: makes a .mnn model of an ONNX model, and reports the result.
#include <mnn_c_onnx.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>

#include "commands.h"
#include "common.h"
#include "json.h"
#include "onnx_model.h"
#include "progress.h"

namespace tool {
namespace {

// The options of the library, with the data that they point to.
struct Settings {
    mnn_onnx_options_t options{};
    std::map<std::string, std::vector<int32_t>> dims;
    std::vector<mnn_onnx_shape_t> shapes;
    std::map<std::string, int32_t> extents;
    std::vector<mnn_onnx_extent_t> extentList;
    std::vector<const char*> outputs;
};

void readExtents(const ConvertOptions& given, Settings& to) {
    for (const std::string& text : given.extents) {
        const size_t equals = text.rfind('=');
        char* end = nullptr;
        const long long value = equals == std::string::npos ? -1 : std::strtoll(text.c_str() + equals + 1, &end, 10);
        if (value < 0 || value > INT32_MAX || *end || end == text.c_str() + equals + 1)
            throw UsageError(fmt::format("--extent '{}' is not of the form name=number", text));
        to.extents[text.substr(0, equals)] = static_cast<int32_t>(value);
    }
}

Settings settingsOf(const ConvertOptions& given) {
    Settings result;
    checkOnnx(mnn_onnx_options_init(&result.options, sizeof result.options));
    CommonFlags flags;
    flags.shapes = given.shapes;
    for (const auto& [name, dims] : flags.parsedShapes()) result.dims[name].assign(dims.begin(), dims.end());
    readExtents(given, result);
    return result;
}

// Fills in the pointers. `to` must not move afterwards.
void point(const ConvertOptions& given, Settings& to) {
    for (const auto& [name, dims] : to.dims) to.shapes.push_back({name.c_str(), dims.data(), dims.size()});
    for (const auto& [name, extent] : to.extents) to.extentList.push_back({name.c_str(), extent});
    for (const std::string& name : given.keep) to.outputs.push_back(name.c_str());
    to.options.shapes = to.shapes.data();
    to.options.shape_count = to.shapes.size();
    to.options.extents = to.extentList.data();
    to.options.extent_count = to.extentList.size();
    to.options.outputs = to.outputs.data();
    to.options.output_count = to.outputs.size();
    const std::map<std::string, int32_t> weights{{"fp32", MNN_ONNX_WEIGHTS_FLOAT32},
                                                 {"fp16", MNN_ONNX_WEIGHTS_FLOAT16},
                                                 {"int8", MNN_ONNX_WEIGHTS_INT8},
                                                 {"int4", MNN_ONNX_WEIGHTS_INT4}};
    to.options.weights = weights.at(given.weights);
    to.options.weight_block = given.block;
    to.options.weights_beside = given.weightsBeside ? 1 : 0;
    to.options.follow_links = given.followLinks ? 1 : 0;
    to.options.max_memory_bytes = given.maxMemory << 20;
}

// The progress of reading nodes, for the line of progress.
struct Watched {
    std::atomic<uint64_t> done{0}, total{0};
};

int32_t watchProgress(void* watched, uint64_t done, uint64_t total) {
    static_cast<Watched*>(watched)->done = done;
    static_cast<Watched*>(watched)->total = total;
    return 0;
}

Json problemList(const OnnxResult& result, size_t count) {
    Json list = Json::array();
    for (size_t i = 0; i < count; i++) {
        mnn_onnx_problem_t problem{};
        problem.struct_size = sizeof problem;
        checkOnnx(mnn_onnx_result_problem(result.get(), i, &problem));
        list.push_back(Json::object({{"node", problem.node},
                                     {"domain", problem.domain},
                                     {"op_type", problem.op_type},
                                     {"opset", problem.opset},
                                     {"reason", problem.reason}}));
    }
    return list;
}

Json notesOf(const OnnxResult& result, size_t count) {
    Json list = Json::array();
    for (size_t i = 0; i < count; i++) {
        const char* note = nullptr;
        checkOnnx(mnn_onnx_result_note(result.get(), i, &note));
        list.push_back(note);
    }
    return list;
}

void print(const Json& report, const std::string& output) {
    for (const Json& problem : report.at("problems")) {
        const std::string& domain = problem.at("domain").get<std::string>();
        text::print("no form   {} '{}', opset {}: {}\n",
                    (domain.empty() ? "" : domain + ".") + problem.at("op_type").get<std::string>(),
                    problem.at("node").get<std::string>(), problem.at("opset").get<int64_t>(),
                    problem.at("reason").get<std::string>());
    }
    for (const Json& note : report.at("notes")) text::print("note      {}\n", note.get<std::string>());
    text::print("nodes     {}, {} of them calls of functions\n", report.at("nodes").get<int64_t>(),
                report.at("functions").get<int64_t>());
    text::print("operators {}, {} more became constants\n", report.at("operators").get<int64_t>(),
                report.at("folded").get<int64_t>());
    if (report.at("problems").empty()) text::print("written   {}\n", output);
}

}  // namespace

int convert(const ConvertOptions& options) {
    Settings settings = settingsOf(options);
    point(options, settings);
    OnnxResult result;
    {
        Watched watched;
        Progress progress("converts " + options.model, 0, Progress::Drawn::ByThread);
        progress.showPart([&watched] {
            return watched.total ? static_cast<double>(watched.done) / static_cast<double>(watched.total) : -1.0;
        });
        settings.options.progress = watchProgress;
        settings.options.progress_user_data = &watched;
        result = convertFile(options.model, settings.options);
    }
    const mnn_onnx_report_t report = reportOf(result);
    const Json json = Json::object({{"nodes", report.nodes},
                                    {"functions", report.functions},
                                    {"operators", report.operators},
                                    {"folded", report.folded},
                                    {"problems", problemList(result, report.problems)},
                                    {"notes", notesOf(result, report.notes)}});
    if (report.problems == 0) checkOnnx(mnn_onnx_result_save(result.get(), options.output.c_str()));
    if (options.json)
        text::print("{}\n", jsonText(json));
    else
        print(json, options.output);
    return report.problems == 0 ? 0 : 1;
}

}  // namespace tool
