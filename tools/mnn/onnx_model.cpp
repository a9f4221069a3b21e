// Converts ONNX models in memory, and opens the result.
#include "onnx_model.h"

#include <cctype>
#include <map>
#include <utility>
#include <vector>

#include "text.h"

namespace tool {
namespace {

// The result of a conversion. The interpreter borrows its bytes and its weights.
using Shared = std::shared_ptr<const OnnxResult>;

void letGo(void* shared) {
    delete static_cast<Shared*>(shared);
}

// Lists the nodes that cannot be converted and the notes on the conversion, one a line.
std::string problemLines(const OnnxResult& result, const mnn_onnx_report_t& report) {
    std::string lines;
    for (size_t i = 0; i < report.problems; i++) {
        mnn_onnx_problem_t problem{};
        problem.struct_size = sizeof problem;
        checkOnnx(mnn_onnx_result_problem(result.get(), i, &problem));
        lines += fmt::format("\n  {} '{}', opset {}: {}", problem.op_type, problem.node, problem.opset, problem.reason);
    }
    for (size_t i = 0; i < report.notes; i++) {
        const char* note = nullptr;
        checkOnnx(mnn_onnx_result_note(result.get(), i, &note));
        lines += fmt::format("\n  note: {}", note);
    }
    return lines;
}

// Converts a model whose inputs have these extents; an empty map leaves them as the model declares them.
OnnxResult convertWithShapes(const std::string& path, const InputShapes& shapes) {
    mnn_onnx_options_t options;
    checkOnnx(mnn_onnx_options_init(&options, sizeof options));
    std::map<std::string, std::vector<int32_t>> dims;
    for (const auto& [name, shape] : shapes) dims[name].assign(shape.begin(), shape.end());
    std::vector<mnn_onnx_shape_t> list;
    list.reserve(dims.size());
    for (const auto& [name, extents] : dims) list.push_back({name.c_str(), extents.data(), extents.size()});
    options.shapes = list.data();
    options.shape_count = list.size();
    return convertFile(path, options);
}

}  // namespace

void checkOnnx(mnn_status status) {
    if (status != MNN_OK) throw ToolError(fmt::format("{} ({})", mnn_onnx_last_error(), mnn_status_name(status)));
}

bool isOnnxFile(const std::string& path) {
    const std::string ending = ".onnx";
    if (path.size() < ending.size()) return false;
    for (size_t i = 0; i < ending.size(); i++)
        if (std::tolower(static_cast<unsigned char>(path[path.size() - ending.size() + i])) != ending[i]) return false;
    return true;
}

mnn_onnx_report_t reportOf(const OnnxResult& result) {
    mnn_onnx_report_t report{};
    report.struct_size = sizeof report;
    checkOnnx(mnn_onnx_result_report(result.get(), &report));
    return report;
}

OnnxResult convertFile(const std::string& path, const mnn_onnx_options_t& options) {
    mnn_onnx_result_t* handle = nullptr;
    checkOnnx(mnn_onnx_convert_file(path.c_str(), &options, &handle));
    return OnnxResult(handle);
}

Interpreter openOnnx(const std::string& path, const InputShapes& shapes) {
    OnnxResult converted = convertWithShapes(path, {});
    if (reportOf(converted).problems > 0 && !shapes.empty()) converted = convertWithShapes(path, shapes);
    const mnn_onnx_report_t report = reportOf(converted);
    if (report.problems > 0)
        throw ToolError(fmt::format("'{}' has {} node{} without a form in a .mnn model:{}", path, report.problems,
                                    report.problems == 1 ? "" : "s", problemLines(converted, report)));
    const Shared result = std::make_shared<const OnnxResult>(std::move(converted));
    const void *net = nullptr, *weights = nullptr;
    size_t size = 0, weightSize = 0;
    checkOnnx(mnn_onnx_result_data(result->get(), &net, &size));
    checkOnnx(mnn_onnx_result_weights(result->get(), &weights, &weightSize));
    mnn_interpreter_options_t options;
    check(mnn_interpreter_options_init(&options, sizeof options));
    options.load_mode = MNN_LOAD_BORROW;
    options.bytes_finalizer = letGo;
    options.bytes_user_data = new Shared(result);
    if (weights) {
        options.external_weight_data = weights;
        options.external_weight_size = weightSize;
        options.external_weight_mode = MNN_LOAD_BORROW;
        options.external_weight_finalizer = letGo;
        options.external_weight_user_data = new Shared(result);
    }
    mnn_interpreter_t* handle = nullptr;
    check(mnn_interpreter_create_from_memory(net, size, &options, &handle));
    return Interpreter(handle);
}

}  // namespace tool
