// Opens ONNX models: every command takes them where it takes a .mnn model.
#pragma once
#include <mnn_c_onnx.h>

#include <functional>
#include <memory>
#include <string>

#include "common.h"

namespace tool {

struct DestroyOnnxResult {
    void operator()(mnn_onnx_result_t* handle) const { mnn_onnx_result_destroy(&handle); }
};
using OnnxResult = std::unique_ptr<mnn_onnx_result_t, DestroyOnnxResult>;

// Throws ToolError with the sentence of libmnn_c_onnx unless the status is MNN_OK.
void checkOnnx(mnn_status status);

// Decides by the ending of the name.
bool isOnnxFile(const std::string& path);

mnn_onnx_report_t reportOf(const OnnxResult& result);
// Throws ToolError, also for exceptions of a callback in the options.
OnnxResult convertFile(const std::string& path, const mnn_onnx_options_t& options);

// Converts a model in memory. Nodes that cannot be converted for all shapes are tried with `shapes`, the extents of
// inputs. Throws ToolError, which lists the nodes that cannot be converted.
Interpreter openOnnx(const std::string& path, const InputShapes& shapes);

}  // namespace tool
