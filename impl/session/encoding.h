// What an operator became while planning: the shapes of its outputs and its commands. It holds as long as the
// operator's inputs are as they were, so plans share it: each takes copies of its tensors.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "plan/graph.h"
#include "plan/plan_tensors.h"
#include "session/encoder.h"
#include "session/shared_memory.h"
#include "tensor/tensor.h"

namespace mnnc {

class Encoding {
  public:
    using Ptr = std::shared_ptr<const Encoding>;
    // Which operator of the same stage computed a tensor while planning, by the number of the tensor.
    using Makers = std::function<Ptr(int)>;

    // Encodes the operator. inputs: as the operator sees them. outputs: their names and what the model says of them.
    Encoding(SessionContext& context, PlanningFrame& planning, const ScheduledOp& op,
             const std::vector<Tensor*>& inputs, const std::vector<Tensor>& outputs, const Makers& makerOf);
    Encoding(const Encoding&) = delete;
    Encoding& operator=(const Encoding&) = delete;

    // Whether the operator would become the same again.
    bool fits(const ScheduledOp& op, const std::vector<Tensor*>& inputs, const Makers& makerOf) const;
    // Adds the outputs and the temporary tensors to those of a plan, which has the inputs.
    void addTensors(PlanTensors& tensors) const;
    // Appends the commands over the operands of such a program.
    void appendTo(CommandGraph& graph, const PlanTensors& tensors) const;

  private:
    struct Input {
        Shape shape;
        DataType type;
        Format format;
        TensorQuant quant;
        std::shared_ptr<const TensorList> list;
        bool constant;
        const void* values;  // of a constant
        Ptr maker;           // keeps those bytes
        bool operator==(const Input& other) const noexcept;
    };
    static Input describe(const Tensor& tensor, const Makers& makerOf);

    ParamsPtr params_;
    std::vector<Input> inputs_;
    std::deque<Tensor> outputs_, temporaries_;
    std::deque<SharedMemory> folded_;
    std::vector<EncodedCommand> commands_;    // whose tensors count by their numbers alone
    std::vector<std::vector<int>> operands_;  // of each command: inputs, then outputs
};

}  // namespace mnnc
