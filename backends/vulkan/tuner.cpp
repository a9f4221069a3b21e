// Records each candidate between two timestamps, and runs it a few times.
#include "backends/vulkan/tuner.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "backends/vulkan/command_buffers.h"
#include "backends/vulkan/device/timestamps.h"
#include "backends/vulkan/recorded_pieces.h"
#include "base/error.h"

namespace mnnc::vulkan {

namespace {

constexpr int kRepeats = 3;  // of a candidate in a round, so that short ones exceed the resolution of the clock
constexpr int kRounds = 4;   // after the one that warms up

// A candidate, recorded a few times into a command buffer of its own.
class Measurement {
  public:
    Measurement(const VulkanBackend& backend, int repeats, const EncodeCandidate& encode, size_t candidate)
        : repeats_(repeats), timestamps_(backend.gpu(), 2), sets_(backend.gpu()), buffers_(backend, 1) {
        Recorder recorder(*backend.gpu(), sets_, backend.limits().groupCount);
        recorder.begin(buffers_[0]);
        timestamps_.reset(buffers_[0]);
        timestamps_.write(buffers_[0], 0);
        for (int repeat = 0; repeat < repeats; ++repeat) {
            encode(recorder, candidate);
            recorder.separate();
        }
        timestamps_.write(buffers_[0], 1);
        recorder.end(true);
    }

    // Returns the milliseconds that one repeat takes.
    double run() {
        buffers_.run();
        double ms = 0;
        timestamps_.read({&ms, 1});
        return ms / repeats_;
    }

  private:
    const int repeats_;
    Timestamps timestamps_;
    DescriptorSets sets_;
    const CommandBuffers buffers_;
};

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
    constexpr double kMaxMs = RecordedPieces::kMaxMs;
    std::vector<std::unique_ptr<Measurement>> measurements(count);
    for (size_t i = 0; i < count; ++i) {
        const double ms = Measurement(backend, 1, encode, i).run();
        if (ms > kMaxMs && i == 0) return 0;  // what the others take could be more than the driver allows
        if (ms > kMaxMs) continue;
        const int repeats = ms * kRepeats > kMaxMs ? 1 : kRepeats;
        measurements[i] = std::make_unique<Measurement>(backend, repeats, encode, i);
    }
    std::vector<double> best(count, std::numeric_limits<double>::max());
    for (int round = 0; round < kRounds; ++round)
        for (size_t i = 0; i < count; ++i)
            if (measurements[i]) best[i] = std::min(best[i], measurements[i]->run());
    return static_cast<size_t>(std::min_element(best.begin(), best.end()) - best.begin());
}

}  // namespace mnnc::vulkan
