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

// Const and TrainableParam. Refers to the model it was parsed from and must not outlive that.
struct ConstParams : ParamsOf<ConstParams>, StoredContent {
    Shape shape;
    DataType type = DataType::Float32;
    Format format = Format::NCHW;
    const void* data = nullptr;  // row-major, aligned to the element; null when empty or left in the file
    ConstData owner;             // what was read while parsing

    bool leftInFile() const noexcept { return owner.left; }
    std::shared_ptr<const void> load() const override;
    FloatSource floats() const override;

    bool written = false;  // by a session: the file has other values

    const Model* model = nullptr;
    const wire::Op* op = nullptr;
    std::string name;

  private:
    mutable std::mutex mutex_;
    mutable std::weak_ptr<const void> loaded_;
};

struct InputParams : ParamsOf<InputParams> {
    Shape shape;  // as the file says: unknown extents are -1
    DataType type = DataType::Float32;
    Format format = Format::NC4HW4;
};

}  // namespace mnnc
