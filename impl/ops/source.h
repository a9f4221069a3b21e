// Constants and inputs of a graph. Sessions read these structs; the two operators never run.
#pragma once
#include <mutex>

#include "ir/params.h"
#include "model/const_data.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"
#include "tensor/stored_content.h"

namespace mnnc {

class Model;

// Const and TrainableParam. Refers to the model it was parsed from and must not outlive it.
struct ConstParams : ParamsOf<ConstParams>, StoredContent {
    Shape shape;
    DataType type = DataType::Float32;
    Format format = Format::NCHW;
    const void* data = nullptr;  // row-major, aligned to the element; null when empty or left in the file
    ConstData owner;             // owns bytes that were read while parsing

    bool leftInFile() const noexcept { return owner.left; }
    std::shared_ptr<const void> load() const override;
    FloatSource floats() const override;

    bool written = false;  // a session wrote the values, which differ from the file's

    const Model* model = nullptr;
    const wire::Op* op = nullptr;
    std::string name;

  private:
    mutable std::mutex mutex_;
    mutable std::weak_ptr<const void> loaded_;
};

struct InputParams : ParamsOf<InputParams> {
    Shape shape;  // as in the file: unknown extents are -1
    DataType type = DataType::Float32;
    Format format = Format::NC4HW4;
};

}  // namespace mnnc
