// A tensor: a value of a net, without the way in which a program stores it (tensor/operand.h).
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/checked.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace mnnc {

class StoredContent;

class TensorList;

enum class Usage : uint8_t { Normal, Input, Output, Constant };

struct TensorQuant {  // real = (q - zero) * scale; scale 0: not quantised
    float scale = 0, zero = 0, min = -128, max = 127;
    // The plan guarantees that no code is below zero, and neither is the zero point: kernels may rely on it.
    bool nonNegative = false;
    // The file states that the values are floats, so that no neighbour's scale is theirs, too.
    bool isFloat = false;

    bool known() const noexcept { return scale != 0; }
    bool sameStep(const TensorQuant& other) const noexcept { return scale == other.scale && zero == other.zero; }
};

struct Tensor {
    std::string name;
    Shape shape;
    DataType type = DataType::Float32;
    Format format = Format::NCHW;
    Usage usage = Usage::Normal;
    // The entry of a frame's table with the place of the elements (plan/operand_numbers.h); 0: the tensor has no
    // memory.
    int number = 0;
    // The row-major elements of a constant, in memory that lives as long as the tensor. Null for empty tensors, and for
    // a large constant that stays in the file because all executions that read it load it themselves
    // (Backend::loadsInputs): `stored` has its content.
    const void* values = nullptr;
    const StoredContent* stored = nullptr;  // see tensor/stored_content.h
    // Identifies a constant of the model for all sessions: it is the same for the same content while it is held. Null
    // where a session has written or computed the content.
    std::shared_ptr<const void> content;
    // The elements are final while shapes are being computed: a loaded constant or a folded result. They are row-major.
    bool hasConstantValue = false;
    // For an int8 tensor, the meaning of its values; for a float tensor, the scale at which the model allows int8.
    TensorQuant quant;
    // For a sequence, the shapes of its elements, which lie in this tensor one after another (tensor/tensor_list.h);
    // null for every other tensor.
    std::shared_ptr<const TensorList> list;

    int64_t elements() const { return shape.elements(); }
    bool empty() const noexcept { return shape.empty(); }

    // Extents by meaning; missing ones read as 1.
    int64_t batch() const noexcept { return shape.at(0); }
    int64_t channel() const noexcept {
        return format == Format::NHWC ? shape.at(shape.rank() < 4 ? 3 : shape.rank() - 1) : shape.at(1);
    }
    int64_t height() const noexcept { return shape.at(format == Format::NHWC ? 1 : 2); }
    int64_t width() const noexcept { return shape.at(format == Format::NHWC ? 2 : 3); }
    // Returns the number of elements of one channel, over all axes after the channel axis.
    int64_t plane() const { return shape.elements(2, shape.rank() < 2 ? 2 : shape.rank()); }

    // Returns the number of bytes of the row-major elements.
    int64_t bytes() const { return checkedMul(elements(), static_cast<int64_t>(elementBytes(type)), "tensor bytes"); }

    // Returns the elements of a constant.
    template <typename T>
    const T* known() const noexcept {
        return static_cast<const T*>(values);
    }
};

// Returns whether a tensor may be stored channel-packed: conversions support NCHW order and elements of four bytes.
inline bool canPack(const Tensor& tensor) noexcept {
    return elementBytes(tensor.type) == 4 && tensor.shape.rank() >= 2 && tensor.format != Format::NHWC;
}
// Returns the same for the host's backend, which also packs int8.
inline bool canPackOnHost(const Tensor& tensor) noexcept {
    return canPack(tensor) ||
           (tensor.type == DataType::Int8 && tensor.shape.rank() >= 2 && tensor.format != Format::NHWC);
}

}  // namespace mnnc
