// What an operator became while planning: the shapes of its outputs and its commands. It holds as long as the operator's
// inputs are as they were, so plans share it.
#pragma once
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "session/budgeted_buffer.h"
#include "session/encoder.h"
#include "tensor/tensor.h"

namespace mnnc {

class Encoding {
  public:
    using Ptr = std::shared_ptr<const Encoding>;
    // Which operator of the same stage computed a tensor while planning, by tensor.
    using Makers = std::function<Ptr(const Tensor*)>;

    // Encodes the operator.
    Encoding(SessionContext& context, PlanningFrame& planning, const ScheduledOp& op,
             const std::vector<Tensor*>& inputs, const std::vector<Tensor*>& outputs, const Makers& makerOf);

    // Whether the operator would become the same again.
    bool fits(const ScheduledOp& op, const std::vector<Tensor*>& inputs, const Makers& makerOf) const;
    // Makes the outputs and the temporary tensors what they were after the operator was encoded.
    void apply(const std::vector<Tensor*>& outputs) const;

    const std::vector<EncodedCommand>& commands() const noexcept { return commands_; }
    std::deque<Tensor>& temporaries() const noexcept { return temporaries_; }

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
    mutable std::deque<Tensor> temporaries_;  // later passes store them
    std::deque<BudgetedBuffer> folded_;
    std::vector<EncodedCommand> commands_;
    std::vector<Tensor> outputs_, states_;  // of outputs and temporary tensors after encoding
};

}  // namespace mnnc
