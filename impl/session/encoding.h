// The result of encoding an operator: the shapes of its outputs and its commands. It holds while the operator's inputs
// are unchanged, so plans share it: each one copies its tensors.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <optional>
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
    // Finds the operator of the same stage that computed a tensor while planning, by the tensor's number.
    using Producers = std::function<Ptr(int)>;

    // Encodes the operator. inputs: as the operator sees them. outputs: their names and the model's description of
    // them.
    Encoding(SessionContext& context, PlanningFrame& planning, const ScheduledOp& op,
             const std::vector<Tensor*>& inputs, const std::vector<Tensor>& outputs, const Producers& producerOf);
    Encoding(const Encoding&) = delete;
    Encoding& operator=(const Encoding&) = delete;

    // Returns whether encoding the operator again would have the same result.
    bool fits(const ScheduledOp& op, const std::vector<Tensor*>& inputs, const Producers& producerOf) const;
    // Adds the outputs and the temporary tensors to a plan that has the inputs.
    void addTensors(PlanTensors& tensors) const;
    // Appends the commands over the operands of such a plan.
    void appendTo(CommandGraph& graph, const PlanTensors& tensors) const;

  private:
    struct Input {
        Shape shape;
        DataType type;
        Format format;
        TensorQuant quant;
        std::shared_ptr<const TensorList> list;
        bool constant;
        const void* values;  // non-null for a constant
        Ptr producer;        // keeps the bytes of `values` alive
        bool operator==(const Input& other) const noexcept;
    };
    static Input describe(const Tensor& tensor, const Producers& producerOf);

    ParamsPtr params_;
    std::vector<Input> inputs_;
    // Most of these are empty, and an empty list has no memory.
    std::list<Tensor> outputs_, temporaries_;
    std::list<SharedMemory> folded_;
    std::vector<EncodedCommand> commands_;    // refer to tensors by number only
    std::vector<std::vector<int>> operands_;  // by command: inputs, then outputs
    std::optional<SharedCharge> regions_;     // of all commands; empty for few
};

}  // namespace mnnc
