// Runs one operator of the library in a test: parameters, shape rule, geometry, CPU executions, with naive layout
// conversions. Slow and simple on purpose; it knows nothing of sessions, planning or fusing.
#pragma once
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backend/frame.h"
#include "backends/cpu/kernels/kernels.h"
#include "base/aligned.h"
#include "base/error.h"
#include "float_util.h"
#include "mnn_objects_generated.h"
#include "ops/op_def.h"

namespace mnnc::test {

using Ints = std::vector<int32_t>;

// The elements of a tensor in the order of its shape: floats, or int32 when `ints` is not empty.
struct Value {
    Shape shape;
    std::vector<float> data;
    Format format = Format::NCHW;
    Ints ints;
};

// Returns from, from + 1, ...
Value iota(Shape shape, float from = 1, Format format = Format::NCHW);
// Returns 0, 1, ... as int32.
Value intIota(Shape shape, Format format = Format::NCHW);
Value floats(Shape shape, std::vector<float> values);
Value ints(Shape shape, Ints values);
Value ints(Ints values);  // of rank 1
Value scalar(int32_t value);

// Writes the parameter table of an operator into a model file.
using Table = std::function<std::pair<wire::OpParameter, flatbuffers::Offset<void>>(flatbuffers::FlatBufferBuilder&)>;

template <typename T>
std::pair<wire::OpParameter, flatbuffers::Offset<void>> asParameter(flatbuffers::Offset<T> offset) {
    // This is a copy, because the generated constant has no definition to which a reference could bind.
    constexpr wire::OpParameter kType = wire::OpParameterTraits<T>::enum_value;
    return {kType, offset.Union()};
}

// The table Axis, which several families have.
inline Table axisTable(int axis) {
    return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateAxis(b, axis)); };
}

// Runs one operator once.
class OpRun : GeometryContext {
  public:
    // Takes parameters that the test made; the shape rule may read every input.
    OpRun(OpType type, ParamsPtr params, const char* isa = "", int threads = 1);
    // Takes the parameters of a file's table (none: no parameters); the shape rule may read the inputs that it
    // declares.
    OpRun(OpType type, Table table);

    std::vector<Value> operator()(const std::vector<Value>& inputs, int outputs = 1);

  private:
    void parse();
    Tensor* make(const Shape& shape, DataType type, Format format);
    void* allocate(const Tensor& t);
    template <typename T>
    T* data(const Tensor& t) const {
        return frame_.data<T>(t);
    }
    void copyRegions(const ValueCommand& command);
    void execute(ValueCommand& command);
    Tensor* temporary(const Shape& shape, DataType type, Format format) override;
    void constant(Tensor* output, const void* bytes) override;
    void emit(ValueCommand command) override;

    const Kernels& kernels_;
    int threads_;
    bool parses_;
    Table table_;
    flatbuffers::FlatBufferBuilder builder_;  // has the objects to which the parameters may refer
    Node node_;
    std::deque<Tensor> tensors_;
    Frame frame_;
    std::deque<AlignedBuffer> memory_;
    std::vector<ValueCommand> commands_;
};

// Return the first output of an operator with the parameters of a file's table; its integers; its shape as a text.
Value run(OpType type, const Table& table, const std::vector<Value>& inputs);
// Fails the test unless run() throws an Error of this status whose sentence contains `part`.
void expectRefused(OpType type, const Table& table, const std::vector<Value>& inputs, Status status,
                   const std::string& part);
Ints intsOf(OpType type, const Table& table, const std::vector<Value>& inputs);
std::string shapeOf(OpType type, const Table& table, const std::vector<Value>& inputs);

}  // namespace mnnc::test
