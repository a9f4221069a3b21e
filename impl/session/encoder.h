// First half of planning a stage: shape rules and geometry turn operators into commands. Values that follow from
// constants and shapes alone are computed here, on the CPU.
#pragma once
#include <deque>
#include <list>
#include <vector>

#include "ops/op_def.h"
#include "schedule/schedule.h"
#include "session/planning_frame.h"
#include "session/shared_memory.h"

namespace mnnc {

struct EncodedCommand {
    ValueCommand command;
    double flops = 0;
    std::string refusal;  // why the host's backend does not compute it; empty: there is none, or it was not consulted
};

class StageEncoder final : public GeometryContext {
  public:
    // kind, stage, owner: identify the temporary tensors by number.
    StageEncoder(SessionContext& context, PlanningFrame& planning, OperandNumbers::Kind kind, int stage, int owner,
                 std::list<Tensor>& temporaries, std::list<SharedMemory>& folded)
        : context_(context),
          planning_(planning),
          kind_(kind),
          stage_(stage),
          owner_(owner),
          temporaries_(temporaries),
          folded_(folded) {}

    // Shapes the outputs and appends the operator's commands to `commands`, or folds it. `inputs` and `outputs` are the
    // operator's tensors; the encoder may read an input with hasConstantValue.
    void encode(const ScheduledOp& op, std::vector<Tensor*> inputs, std::vector<Tensor*> outputs,
                std::vector<EncodedCommand>& commands);

    // Runs a command whose inputs are known; its outputs become known.
    void fold(const Command& command);

    Tensor* temporary(const Shape& shape, DataType type, Format format) override;
    void emit(ValueCommand command) override;
    void constant(Tensor* output, const void* bytes) override;

  private:
    // Emits the command of the first backend of the host that takes the operator. Otherwise returns false, and adds the
    // reasons of the backends that were consulted to `refusal`.
    bool emitForHost(const std::vector<HostBackendPtr>& backends, const ScheduledOp& op, const OpContext& context,
                     std::string& refusal);
    bool deviceRefuses(const std::vector<ValueCommand>& commands, std::string& reason) const;
    void fold(const ValueCommand& command);
    Operand* operand(const Shape& shape, DataType type, Format format, int channelBlock, const TensorQuant& quant);
    Operand* repack(Operand* tensor, int channelBlock);
    void changeStorage(Operand* from, Operand* to);
    void runNow(const Command& command);
    void checkOutputs(const Node& node, const std::vector<Tensor*>& outputs) const;
    std::vector<Tensor*> computedOutputs(const Node& node, const std::vector<Tensor*>& outputs);
    void* allocateFolded(int64_t bytes);

    SessionContext& context_;
    PlanningFrame& planning_;
    const OperandNumbers::Kind kind_;
    const int stage_, owner_;
    std::list<Tensor>& temporaries_;
    std::list<SharedMemory>& folded_;
    std::vector<ValueCommand> emitted_;
    std::deque<Operand> operands_;  // operands of commands that run while planning
};

}  // namespace mnnc
