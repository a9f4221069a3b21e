// The contents of a tensor in the element types of the .mnn format: constants of the net, and values that follow from
// shapes.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mnn_objects_generated.h"
#include "model.h"

namespace mnnc::onnx {

using Dims = std::vector<int64_t>;
using wire::DataType;
using wire::OpType;

// The product of extents; throws Overflow, and BadRange for a negative extent. `what` names the array in errors.
int64_t elementCount(const Dims& dims, const std::string& what);
std::string dimsText(const Dims& dims);

struct Array {
    DataType type = DataType::DT_FLOAT;  // DT_FLOAT, DT_INT32, DT_UINT8 or DT_INT8
    Dims dims;
    std::vector<float> floats;     // DT_FLOAT, owned
    Bytes lent;                    // or large ones in the model's bytes, at any address
    std::vector<int32_t> ints;     // DT_INT32
    std::vector<uint8_t> bytes;    // DT_UINT8, and DT_INT8 as two's complement
    std::vector<int32_t> bits;     // of unsigned integers of 32 bits from the file, where some were clamped
    bool saturated = false;        // an integer beyond 32 bits was clamped, as the largest unsigned ones are
    mutable bool charged = false;  // its bytes count in the budget

    int64_t count() const;
    uint64_t byteSize() const { return floatCount() * 4 + (ints.size() + bits.size()) * 4 + bytes.size(); }
    size_t floatCount() const { return lent.empty() ? floats.size() : lent.size() / sizeof(float); }
    std::vector<float> allFloats() const;  // a copy
    // For any type. A float loses its fraction; beyond 64 bits it becomes the nearest limit, and NaN the lower one.
    int64_t intAt(int64_t i) const;
    double realAt(int64_t i) const;     // for any type
    std::vector<int64_t> list() const;  // all elements as integers
};
using ArrayPtr = std::shared_ptr<const Array>;

ArrayPtr intArray(Dims dims, std::vector<int32_t> values);
ArrayPtr intList(const std::vector<int64_t>& values);  // of rank 1; throws Overflow beyond 32 bits
ArrayPtr intScalar(int64_t value);
// The same, but numbers beyond 32 bits are clamped, and the array says so.
ArrayPtr clampedInts(Dims dims, const std::vector<int64_t>& values);
ArrayPtr floatArray(Dims dims, std::vector<float> values);
ArrayPtr floatScalar(float value);

// The format's type for an element type; DT_INVALID where there is none.
DataType heldAs(Elem elem);

// The folder of external data: the model's folder. Empty: there is none, and external data is refused.
struct DataFolder {
    std::string path;
    bool followLinks = false;  // a link in the folder may lead to a file outside
};
// The file of a tensor's external data, by the same name for each tensor. Throws BadFormat where it lies outside of the
// folder.
std::string externalFile(const TensorData& tensor, const DataFolder& folder);
// The values of a tensor in the file. Throws BadFormat, Truncated, Overflow, NotSupported, and what reading a file of
// external data throws.
ArrayPtr readTensor(const TensorData& tensor, const DataFolder& folder);

}  // namespace mnnc::onnx
