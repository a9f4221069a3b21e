// Shape arithmetic: computes the contents of small integer tensors that follow from shapes. It interprets the moves,
// sums and products that geometry rules emit, without a backend.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "ops/op_def.h"

namespace mnnc {

class SmallValues final : public GeometryContext {
  public:
    // Sets the contents of a node's outputs, which have their shapes, where they follow from known ones; other outputs
    // stay without. The contents live as long as this object. Throws what a geometry rule throws.
    void compute(const Node& node, const std::vector<Tensor*>& inputs, const std::vector<Tensor*>& outputs);
    // Loads the contents of a tensor; those of a constant come from the model. Returns false where they are unknown.
    bool load(Tensor& tensor);

    Tensor* temporary(const Shape& shape, DataType type, Format format) override;
    void emit(ValueCommand command) override;
    void constant(Tensor* output, const void* bytes) override;

  private:
    bool run(const ValueCommand& command);
    bool move(const ValueCommand& command);
    bool combine(const ValueCommand& command);

    std::vector<ValueCommand> emitted_;
    std::deque<Tensor> temporaries_;
    std::deque<std::vector<int32_t>> contents_;
    std::vector<std::shared_ptr<const void>> loaded_;
};

}  // namespace mnnc
