// Records all candidates into one command buffer, with timestamps between them, and runs it a few times.
#include "backends/vulkan/tuner.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "backends/vulkan/device/timestamps.h"
#include "backends/vulkan/recorded_batch.h"
#include "base/error.h"

namespace mnnc::vulkan {

namespace {

constexpr int kRepeats = 3;  // of a candidate in a round, so that short ones exceed the resolution of the clock
constexpr int kRounds = 5;   // the first warms up

DeviceBlockPtr allocateBound(VulkanBackend& backend, int64_t bytes) {
    if (bytes > backend.limits().storageRange)
        fail(Status::OutOfMemory, "%lld bytes exceed what the device binds at once", asLong(bytes));
    return backend.allocate(bytes, DeviceUse::Compute);
}

}  // namespace

MeasuredBlock::MeasuredBlock(VulkanBackend& backend, int64_t bytes)
    : memory_(allocateBound(backend, bytes)), block_(static_cast<const Block&>(*memory_)) {}

std::optional<size_t> whereMemorySuffices(const std::function<size_t()>& measure) {
    try {
        return measure();
    } catch (const Error& error) {
        if (error.status() != Status::OutOfMemory) throw;
        return std::nullopt;
    }
}

size_t tunedCandidates(GpuTuning tuning) {
    switch (tuning) {
        case GpuTuning::None:
            return 1;
        case GpuTuning::Fast:
            return 3;
        case GpuTuning::Normal:
            return 6;
        case GpuTuning::Wide:
            return 12;
        case GpuTuning::Heavy:
            break;
    }
    return std::numeric_limits<size_t>::max();
}

size_t fastestCandidate(const VulkanBackend& backend, size_t count, const EncodeCandidate& encode) {
    const std::shared_ptr<Device>& device = backend.gpu();
    Timestamps timestamps(device, static_cast<uint32_t>(count + 1));
    DescriptorSets sets(device);
    const CommandBuffers buffers(backend, 1);
    Recorder recorder(*device, sets, backend.limits().groupCount);
    recorder.begin(buffers[0]);
    timestamps.reset(buffers[0]);
    timestamps.write(buffers[0], 0);
    for (size_t i = 0; i < count; ++i) {
        for (int repeat = 0; repeat < kRepeats; ++repeat) {
            encode(recorder, i);
            recorder.separate();
        }
        timestamps.write(buffers[0], static_cast<uint32_t>(i + 1));
    }
    recorder.end(true);
    std::vector<double> best(count, std::numeric_limits<double>::max()), ms(count);
    for (int round = 0; round < kRounds; ++round) {
        buffers.run();
        timestamps.read(ms);
        for (size_t i = 0; round > 0 && i < count; ++i) best[i] = std::min(best[i], ms[i]);
    }
    return static_cast<size_t>(std::min_element(best.begin(), best.end()) - best.begin());
}

}  // namespace mnnc::vulkan
