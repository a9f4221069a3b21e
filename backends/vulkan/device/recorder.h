// Writes dispatches into a command buffer and inserts barriers where two of them conflict.
#pragma once
#include <volk.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "backends/vulkan/device/device.h"

namespace mnnc::vulkan {

// A range of a buffer that a dispatch reads or writes.
struct Binding {
    VkBuffer buffer = VK_NULL_HANDLE;
    int64_t offset = 0, bytes = 0;
    bool write = false;
};

// The descriptor sets of one recording: pools are added as needed and destroyed together.
class DescriptorSets {
  public:
    explicit DescriptorSets(std::shared_ptr<Device> device) : device_(std::move(device)) {}
    ~DescriptorSets();
    DescriptorSets(const DescriptorSets&) = delete;
    DescriptorSets& operator=(const DescriptorSets&) = delete;
    VkDescriptorSet make(const Pipeline& pipeline, std::span<const Binding> bindings);

  private:
    void addPool();
    const std::shared_ptr<Device> device_;
    std::vector<VkDescriptorPool> pools_;
    uint32_t left_ = 0;
};

// The ranges that were accessed since the last barrier that covers them.
class Hazards {
  public:
    // Returns whether an access conflicts with one that is not yet followed by a barrier.
    bool conflicts(const Binding& access) const;
    void note(const Binding& access);
    void clear() noexcept { touched_.clear(); }

  private:
    struct Range {
        int64_t begin, end;
        bool write;
    };
    std::map<VkBuffer, std::vector<Range>> touched_;
};

// Gives the command buffers for dispatches that are submitted one by one, or in parts.
class DispatchPieces {
  public:
    // Returns the number of parts in which the next dispatch, of this many groups, is recorded; at least 1.
    virtual int64_t partsOfNext(int64_t groups) = 0;
    // Returns the command buffer for the next part.
    virtual VkCommandBuffer next() = 0;

  protected:
    ~DispatchPieces() = default;
};

class Recorder {
  public:
    // `maxGroups`: the limit of work groups per axis.
    Recorder(Device& device, DescriptorSets& sets, uint32_t maxGroups)
        : device_(device), sets_(sets), maxGroups_(maxGroups) {}

    // The command buffers of one submission follow one another in the order of recording, so hazards extend across
    // them.
    void begin(VkCommandBuffer buffer);
    void end(bool last);
    // From now on dispatches are recorded into these pieces, in place of begin() and end(). Each waits for all earlier
    // work of the queue, and all later work sees its results.
    void usePieces(DispatchPieces& pieces) noexcept { pieces_ = &pieces; }
    // Everything recorded from here on waits for everything recorded before.
    void separate();
    // Everything recorded from here on waits for all earlier work of the queue, of any kind.
    void waitForQueue();
    // Makes the results of all commands that were recorded before visible to later work of the queue and to the host.
    void makeVisibleToQueue();

    // Records `groups` work groups in total; `push` has the kernel's own words, which follow the two of the recorder.
    void dispatch(const Pipeline& pipeline, std::span<const Binding> bindings, std::span<const uint32_t> push,
                  int64_t groups);

  private:
    struct Scope {
        VkPipelineStageFlags stages;
        VkAccessFlags access;
    };
    void barrier(const Scope& before, const Scope& behind);
    // Records the groups `first` to `end` - 1 of a dispatch, whose pipeline and buffers are bound. exact: no group
    // beyond `end` - 1 may run.
    void dispatchGroups(int64_t first, int64_t end, bool exact, std::span<const Binding> bindings,
                        const Pipeline& pipeline, std::span<uint32_t> words);

    Device& device_;
    DescriptorSets& sets_;
    const uint32_t maxGroups_;
    VkCommandBuffer buffer_ = VK_NULL_HANDLE;
    Hazards hazards_;
    DispatchPieces* pieces_ = nullptr;
};

}  // namespace mnnc::vulkan
