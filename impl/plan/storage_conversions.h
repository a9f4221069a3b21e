// Converts tensors to the storage that commands want: packed or row-major, on the host or on the device.
#pragma once
#include <map>
#include <utility>

#include "plan/step_plan.h"

namespace mnnc {

// Appends the steps of conversions to a plan; each conversion is made once and shared.
class StorageConversions {
  public:
    StorageConversions(StepPlan& plan, const StepContext& context) : plan_(plan), context_(context) {}

    // Returns the tensor in the wanted storage: itself, an earlier conversion, or a new one.
    Operand* convert(Operand* tensor, Storage wanted);
    // Adds a tensor like `of`, which a step has to fill.
    Operand* describe(const Operand& of, Storage storage);
    // Adds a tensor like `like` over the bytes of `of`.
    Operand* view(Operand* of, const Operand& like, int channelBlock);
    // Returns the memory where a device reads an input with an open extent, which each run may change.
    Operand* stage(Operand* input);
    // Appends a step that copies from the device; `from` counts as the result's conversion.
    void download(Operand* from, Operand* to);
    // From now on convert() returns `made` for `source` in that storage.
    void remember(Operand* source, Storage storage, Operand* made) { converted_[{source, storage}] = made; }

  private:
    Operand* findConverted(Operand* source, Storage storage) const;
    Operand* findOnDevice(Operand* source, bool wide) const;
    Operand* viewOnDevice(Operand* tensor, bool wide);
    void changeStorage(Operand* from, Operand* to);
    void upload(Operand* from, Operand* to);
    void copy(std::unique_ptr<Execution> execution, Operand* from, Operand* to, bool once);
    void insert(std::shared_ptr<Execution> execution, std::unique_ptr<Execution> unrecorded, Command command);

    StepPlan& plan_;
    const StepContext& context_;
    std::map<std::pair<const Operand*, Storage>, Operand*> converted_;
};

}  // namespace mnnc
