// The ONNX importer, through mnn_c_onnx.h: bytes become a net that loads, a report with reasons, or a status that the
// header lists.
#include <mnn_c_onnx.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "target.h"

namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 20;  // of constants
constexpr uint64_t kMaxNodes = 2000;

[[noreturn]] void defect(const char* what, mnn_status status) {
    std::fprintf(stderr, "%s: %s, %s\n", what, mnn_status_name(status), mnn_onnx_last_error());
    std::abort();
}

int32_t watch(void*, uint64_t done, uint64_t) {
    return done > kMaxNodes;
}

// Returns whether mnn_onnx_convert_memory() may return this status.
bool isListed(mnn_status status) {
    constexpr mnn_status kStatuses[] = {MNN_ERROR_BAD_FORMAT,     MNN_ERROR_TRUNCATED,     MNN_ERROR_CYCLE,
                                        MNN_ERROR_OVERFLOW,       MNN_ERROR_BAD_RANGE,     MNN_ERROR_NOT_SUPPORTED,
                                        MNN_ERROR_LIMIT_EXCEEDED, MNN_ERROR_CALLBACK_STOP, MNN_ERROR_BAD_PARAMETER,
                                        MNN_ERROR_BAD_TYPE,       MNN_ERROR_BAD_INDEX,     MNN_ERROR_BAD_WEIGHTS,
                                        MNN_ERROR_INVALID_VALUE,  MNN_ERROR_COMPUTE_SIZE,  MNN_ERROR_NOT_FOUND};
    return std::find(std::begin(kStatuses), std::end(kStatuses), status) != std::end(kStatuses);
}

void load(const mnn_onnx_result_t* result) {
    const void *net = nullptr, *weights = nullptr;
    size_t size = 0, weightSize = 0;
    mnn_status status = mnn_onnx_result_data(result, &net, &size);
    if (status == MNN_OK) status = mnn_onnx_result_weights(result, &weights, &weightSize);
    if (status != MNN_OK) defect("a result without problems has no net", status);
    mnn_interpreter_options_t options;
    if (mnn_interpreter_options_init(&options, sizeof options) != MNN_OK) std::abort();
    if (weights) {
        options.external_weight_data = weights;
        options.external_weight_size = weightSize;
    }
    mnn_interpreter_t* interpreter = nullptr;
    status = mnn_interpreter_create_from_memory(net, size, &options, &interpreter);
    if (status != MNN_OK) defect("a net was written that does not load", status);
    mnn_interpreter_destroy(&interpreter);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    mnn_onnx_options_t options;
    if (mnn_onnx_options_init(&options, sizeof options) != MNN_OK) std::abort();
    options.max_memory_bytes = kMaxBytes;
    options.progress = watch;
    options.weights = static_cast<int32_t>(size % 4);
    options.weight_block = options.weights >= MNN_ONNX_WEIGHTS_INT8 ? static_cast<int32_t>(size / 4 % 2 * 16) : 0;
    options.weights_beside = static_cast<int32_t>(size / 8 % 2);
    mnn_onnx_result_t* result = nullptr;
    const mnn_status status = mnn_onnx_convert_memory(data, size, &options, &result);
    if (status != MNN_OK) {
        if (!isListed(status)) defect("a status that the header does not list", status);
        if (!*mnn_onnx_last_error()) defect("no sentence", status);
        return 0;
    }
    mnn_onnx_report_t report{};
    report.struct_size = sizeof report;
    if (mnn_onnx_result_report(result, &report) != MNN_OK) std::abort();
    for (size_t i = 0; i < report.problems; ++i) {
        mnn_onnx_problem_t problem{};
        problem.struct_size = sizeof problem;
        if (mnn_onnx_result_problem(result, i, &problem) != MNN_OK || !*problem.reason) std::abort();
        if (problem.status == MNN_ERROR_INTERNAL) defect(problem.reason, problem.status);
    }
    if (report.problems == 0) load(result);
    mnn_onnx_result_destroy(&result);
    return 0;
}
