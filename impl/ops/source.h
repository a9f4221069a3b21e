// Constants and inputs of a graph. Sessions read these structs; the two operators never run.
#pragma once
#include "model/const_data.h"
#include "ops/params.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace mnnc {

// Const and TrainableParam.
struct ConstParams : Params {
    Shape shape;
    DataType type = DataType::Float32;
    Format format = Format::NCHW;
    const void* data = nullptr;  // row-major, aligned to the element; null when empty. Lives as long as the
                                 // params and the model
    ConstData owner;
};

struct InputParams : Params {
    Shape shape;  // as the file says: unknown extents are -1
    DataType type = DataType::Float32;
    Format format = Format::NC4HW4;
};

}  // namespace mnnc
