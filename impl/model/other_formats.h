// Recognises files of other formats, so that the error can name the converter.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mnnc {

// This many bytes of the beginning are enough for most ONNX models.
constexpr size_t kOnnxHead = 4096;

// Whether bytes are an ONNX model, or the beginning of one, judged by their outermost fields.
bool isOnnx(const uint8_t* data, size_t size);

}  // namespace mnnc
