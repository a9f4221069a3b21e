// The contents of small integer tensors that follow from shapes, are moved, added and multiplied: shape arithmetic,
// computed from what geometry rules emit, without a backend.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "ops/op_def.h"

namespace mnnc {

class SmallValues final : public GeometryContext {
  public:
    // Gives the outputs of a node, which have their shapes, their contents, where those are known now; else they stay
    // without. The contents live as long as this object. Throws what a geometry rule throws.
    void compute(const Node& node, const std::vector<Tensor*>& inputs, const std::vector<Tensor*>& outputs);
    // The contents of a tensor, those of a constant from the model; false where they are not known.
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
