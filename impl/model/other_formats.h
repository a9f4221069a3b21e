// Recognises files of other formats, so that the error can say what makes a model of them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mnnc {

// So many bytes of the beginning are enough for most ONNX models.
constexpr size_t kOnnxHead = 4096;

// Whether bytes are an ONNX model, as far as its outermost fields say, or the beginning of one.
bool isOnnx(const uint8_t* data, size_t size);

}  // namespace mnnc
