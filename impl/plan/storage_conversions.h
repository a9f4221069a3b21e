// Conversions of tensors into the storage that commands want: packed or row-major, on the host or on the device.
#pragma once
#include <map>
#include <tuple>
#include <utility>

#include "plan/step_plan.h"

namespace mnnc {

struct Storage {
    int channelBlock = 1;
    bool onDevice = false;
    bool wide = false;  // Tensor::wide, on a device that narrows floats
    bool operator==(const Storage&) const = default;
    bool operator<(const Storage& other) const {
        return std::tie(channelBlock, onDevice, wide) <
               std::tie(other.channelBlock, other.onDevice, other.wide);
    }
};

// Appends the steps of conversions to a plan; each conversion is made once and shared.
class StorageConversions {
  public:
    StorageConversions(StepPlan& plan, const StepContext& context) : plan_(plan), context_(context) {}

    // The tensor in the wanted storage: itself, an earlier conversion, or a new one.
    Tensor* convert(Tensor* tensor, Storage wanted);
    // A tensor like `of`, to be filled by a step.
    Tensor* describe(const Tensor& of, Storage storage);
    // A tensor like `like` with the bytes of `of`.
    Tensor* view(Tensor* of, const Tensor& like, int channelBlock);
    // A step that copies from the device; `from` counts as the result's conversion.
    void download(Tensor* from, Tensor* to);
    // From now on `made` is what `source` is in that storage.
    void remember(Tensor* source, Storage storage, Tensor* made) { converted_[{source, storage}] = made; }

  private:
    Tensor* findConverted(Tensor* source, Storage storage) const;
    Tensor* findOnDevice(Tensor* source, bool wide) const;
    Tensor* viewOnDevice(Tensor* tensor, bool wide);
    void changeStorage(Tensor* from, Tensor* to);
    void upload(Tensor* from, Tensor* to);
    void copy(std::unique_ptr<Execution> execution, Tensor* from, Tensor* to, bool once);
    void insert(std::shared_ptr<Execution> execution, std::unique_ptr<Execution> unrecorded, Command command);

    StepPlan& plan_;
    const StepContext& context_;
    std::map<std::pair<const Tensor*, Storage>, Tensor*> converted_;
};

}  // namespace mnnc
