// See array.h.
#include "array.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked.h"

namespace mnnc::onnx {

int64_t elementCount(const Dims& dims, const std::string& what) {
    int64_t count = 1;
    for (const int64_t extent : dims) {
        if (extent < 0) fail(Status::BadRange, "%s has an extent of %lld", what.c_str(), asLong(extent));
        // The other extents may be zero, so that the product does not bound this one.
        if (extent > std::numeric_limits<int32_t>::max())
            fail(Status::Overflow, "%s has an extent of %lld, which overflows 32 bits", what.c_str(), asLong(extent));
        count = checkedMul(count, extent, what.c_str());
    }
    return count;
}

std::string dimsText(const Dims& dims) {
    std::string text = "[";
    for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
    return text + "]";
}

int64_t Array::count() const {
    return elementCount(dims, "a constant");
}

int64_t Array::intAt(int64_t i) const {
    const auto at = static_cast<size_t>(i);
    switch (type) {
        case DataType::DT_FLOAT: {
            const double value = realAt(i);
            if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
            return value >= -0x1p63 ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min();
        }
        case DataType::DT_INT32:
            return ints.at(at);
        case DataType::DT_INT8:
            return static_cast<int8_t>(bytes.at(at));
        default:
            return bytes.at(at);
    }
}

std::vector<float> Array::allFloats() const {
    if (lent.empty()) return floats;
    std::vector<float> all(floatCount());
    std::memcpy(all.data(), lent.data(), lent.size());
    return all;
}

double Array::realAt(int64_t i) const {
    if (!lent.empty() && i >= 0 && static_cast<size_t>(i) < floatCount()) {
        float value = 0;
        std::memcpy(&value, lent.data() + static_cast<size_t>(i) * sizeof value, sizeof value);
        return static_cast<double>(value);
    }
    return type == DataType::DT_FLOAT ? static_cast<double>(floats.at(static_cast<size_t>(i)))
                                      : static_cast<double>(intAt(i));
}

std::vector<int64_t> Array::list() const {
    std::vector<int64_t> result;
    for (int64_t i = 0, n = count(); i < n; ++i) result.push_back(intAt(i));
    return result;
}

ArrayPtr intArray(Dims dims, std::vector<int32_t> values) {
    auto array = std::make_shared<Array>();
    array->type = DataType::DT_INT32;
    array->dims = std::move(dims);
    array->ints = std::move(values);
    return array;
}

ArrayPtr intList(const std::vector<int64_t>& values) {
    std::vector<int32_t> narrow;
    for (const int64_t value : values) {
        if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
            fail(Status::Overflow, "the number %lld does not fit into 32 bits", asLong(value));
        narrow.push_back(static_cast<int32_t>(value));
    }
    const auto count = static_cast<int64_t>(values.size());
    return intArray({count}, std::move(narrow));
}

ArrayPtr intScalar(int64_t value) {
    return intArray({}, intList({value})->ints);
}

ArrayPtr clampedInts(Dims dims, const std::vector<int64_t>& values) {
    auto array = std::make_shared<Array>();
    array->type = DataType::DT_INT32;
    array->dims = std::move(dims);
    for (const int64_t value : values) {
        const int64_t near =
            std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
        array->saturated = array->saturated || near != value;
        array->ints.push_back(static_cast<int32_t>(near));
    }
    return array;
}

ArrayPtr floatArray(Dims dims, std::vector<float> values) {
    auto array = std::make_shared<Array>();
    array->dims = std::move(dims);
    array->floats = std::move(values);
    return array;
}

ArrayPtr floatScalar(float value) {
    return floatArray({}, {value});
}

DataType heldAs(Elem elem) {
    switch (elem) {
        case Elem::Float:
        case Elem::Float16:
        case Elem::Bfloat16:
        case Elem::Double:
            return DataType::DT_FLOAT;
        case Elem::Int16:
        case Elem::Uint16:
        case Elem::Int32:
        case Elem::Int64:
        case Elem::Bool:
        case Elem::Uint32:
        case Elem::Uint64:
            return DataType::DT_INT32;
        case Elem::Uint8:
            return DataType::DT_UINT8;
        case Elem::Int8:
            return DataType::DT_INT8;
        default:
            return DataType::DT_INVALID;
    }
}

}  // namespace mnnc::onnx
