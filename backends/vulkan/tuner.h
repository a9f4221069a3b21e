// Measures alternatives of the same computation on the device, and chooses the fastest.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "backends/vulkan/device/recorder.h"
#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

// Returns how many candidates are measured: those that the estimate puts first.
size_t tunedCandidates(GpuTuning tuning);

// Memory that stands in for that of a tensor, or for scratch, while candidates are measured.
class MeasuredBlock {
  public:
    // Throws OutOfMemory, also when the bytes exceed a binding.
    MeasuredBlock(VulkanBackend& backend, int64_t bytes);
    Binding read() const { return {block_.buffer(), block_.offset(), block_.bytes(), false}; }
    Binding written() const { return {block_.buffer(), block_.offset(), block_.bytes(), true}; }

  private:
    const DeviceBlockPtr memory_;
    const Block& block_;
};

// Records one candidate.
using EncodeCandidate = std::function<void(Recorder& recorder, size_t candidate)>;

// Returns the result of `measure`, or std::nullopt where the device has too little memory to measure: a session must be
// planned even then.
std::optional<size_t> whereMemorySuffices(const std::function<size_t()>& measure);

// Returns the fastest of `count` candidates, by the clock of the device; the first one, which the estimate prefers,
// where it takes longer than a submission should. Throws Error.
size_t fastestCandidate(const VulkanBackend& backend, size_t count, const EncodeCandidate& encode);

}  // namespace mnnc::vulkan
