// Second half of planning a stage: commands -> steps. Decides the storage of every tensor, inserts
// conversions, makes executions and plans the arena from lifetimes.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "backend/memory_plan.h"
#include "session/encoder.h"
#include "session/op_record.h"

namespace mnnc {

class StageAllocator {
  public:
    StageAllocator(SessionContext& context, StageEncoder& encoder) : context_(context), encoder_(encoder) {}

    // Appends the step (or steps, with conversions) of one command.
    void add(EncodedCommand command);
    // A place in the order where something else runs that reads and writes tensors of other memory.
    void addControl(const std::vector<Tensor*>& reads);
    // Plans memory. `staysAlive` tells which tensors are read after the stage.
    void finish(ChargedBuffer& arena, const std::function<bool(const Tensor*)>& staysAlive);

    struct Step {
        std::unique_ptr<Execution> execution;  // null: control
        Command command;
    };
    std::vector<Step> steps;
    std::vector<OpRecord> records;

  private:
    Tensor* stored(Tensor* tensor, int pack);
    Tensor* shareStorage(Tensor* of, const Tensor& like, int pack);
    bool shareIdentity(const Command& command);
    void push(Command command, double flops, bool told);

    SessionContext& context_;
    StageEncoder& encoder_;
    std::map<std::pair<const Tensor*, int>, Tensor*> converted_;
    std::vector<Tensor*> shared_;  // tensors with aliasOf, in order of creation
};

}  // namespace mnnc
