// Records each dispatch into a command buffer of its own, and submits as many together as the time allows.
#include "backends/vulkan/recorded_pieces.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "backends/vulkan/device/result.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

RecordedPieces::RecordedPieces(VulkanBackend& backend, std::span<const DeviceStep> steps,
                               std::span<const Binding> reports, const Frame& frame)
    : backend_(backend),
      device_(backend.gpu()),
      steps_(steps),
      reports_(reports.begin(), reports.end()),
      frame_(frame) {}

bool RecordedPieces::isCurrent() const {
    if (!recorded_ || tooLarge_) return false;
    return std::all_of(recorded_->places.begin(), recorded_->places.end(), [&](const Recorded::Place& place) {
        const DevicePlace& now = frame_.device(*place.tensor);
        return static_cast<const Block&>(*now.block).serial() == place.block && now.offset == place.offset;
    });
}

// Divides the dispatches whose parts took too long. A dispatch keeps its measured time: its parts are expected to take
// equal shares of it.
void RecordedPieces::divide() {
    for (Dispatch& dispatch : dispatches_) {
        const double part = dispatch.ms / static_cast<double>(dispatch.parts);
        if (part <= kMaxMs) continue;
        const auto wanted = static_cast<int64_t>(std::ceil(2 * dispatch.ms / kMaxMs));
        dispatch.parts = std::clamp<int64_t>(wanted, dispatch.parts, dispatch.groups);
    }
    tooLarge_ = false;
}

void RecordedPieces::prepare() {
    if (isCurrent()) return;
    recorded_.reset();
    divide();
    auto recorded = std::make_unique<Recorded>(backend_);
    recording_ = recorded.get();
    nextDispatch_ = 0;
    FrameRecorder recorder(backend_, recorded->sets, frame_);
    recorder.usePieces(*this);
    for (size_t i = 0; i < steps_.size(); ++i) {
        recorded->firstPiece.push_back(recorded->pieces.size());
        recorder.beginStep(steps_[i], reports_[i]);
        executionOf(steps_[i]).encode(recorder);
        const Operand* movable = executionOf(steps_[i]).movable();
        if (!movable) continue;
        const DevicePlace& place = frame_.device(*movable);
        recorded->places.push_back({movable, static_cast<const Block&>(*place.block).serial(), place.offset});
    }
    recorded->firstPiece.push_back(recorded->pieces.size());
    recorded_ = std::move(recorded);
}

int64_t RecordedPieces::partsOfNext(int64_t groups) {
    if (nextDispatch_ == dispatches_.size()) dispatches_.push_back({groups, 1, -1});
    return dispatches_[nextDispatch_++].parts;
}

VkCommandBuffer RecordedPieces::next() {
    const Dispatch& dispatch = dispatches_[nextDispatch_ - 1];
    recording_->pieces.push_back({nextDispatch_ - 1, dispatch.ms / static_cast<double>(dispatch.parts)});
    return recording_->buffers.add();
}

// A piece that was not measured yet is submitted alone.
size_t RecordedPieces::together(size_t first) const {
    const std::vector<Piece>& pieces = recorded_->pieces;
    double ms = pieces[first].ms;
    size_t count = 1;
    while (ms >= 0 && first + count < pieces.size()) {
        const double more = pieces[first + count].ms;
        if (more < 0 || ms + more > kMaxMs) break;
        ms += more;
        ++count;
    }
    return count;
}

void RecordedPieces::note(size_t first, size_t count, double ms) {
    std::vector<Piece>& pieces = recorded_->pieces;
    double expected = 0;
    for (size_t i = 0; i < count; ++i) expected += pieces[first + i].ms;
    for (size_t i = 0; i < count; ++i) {
        Piece& piece = pieces[first + i];
        piece.ms = count == 1 || expected <= 0 ? ms / static_cast<double>(count) : ms * piece.ms / expected;
        Dispatch& dispatch = dispatches_[piece.dispatch];
        dispatch.ms = piece.ms * static_cast<double>(dispatch.parts);
        tooLarge_ |= piece.ms > kMaxMs && dispatch.parts < dispatch.groups;
    }
}

void RecordedPieces::run(const Cancellation& cancel) {
    using Clock = std::chrono::steady_clock;
    const CommandBuffers& buffers = recorded_->buffers;
    for (size_t first = 0; first < recorded_->pieces.size();) {
        cancel.check();
        const size_t count = together(first);
        const auto begin = Clock::now();
        buffers.submit(buffers.range(first, count));
        buffers.wait(-1);
        note(first, count, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
        first += count;
    }
}

void RecordedPieces::makeStamps() {
    if (stamps_ || !Timestamps::supported(*device_)) return;
    auto times = std::make_unique<Timestamps>(device_, 2);
    auto stamps = std::make_unique<CommandBuffers>(backend_, 2);
    for (uint32_t i = 0; i < 2; ++i) {
        const VkCommandBuffer buffer = (*stamps)[i];
        const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        check(device_->api().vkBeginCommandBuffer(buffer, &info), "vkBeginCommandBuffer");
        if (i == 0) times->reset(buffer);
        times->write(buffer, i);
        check(device_->api().vkEndCommandBuffer(buffer), "vkEndCommandBuffer");
    }
    times_ = std::move(times);
    stamps_ = std::move(stamps);
}

void RecordedPieces::runStep(size_t step, double* ms) {
    const size_t first = recorded_->firstPiece[step], count = recorded_->firstPiece[step + 1] - first;
    if (count == 0) return;
    const std::span<const VkCommandBuffer> own = recorded_->buffers.range(first, count);
    if (ms) makeStamps();
    if (!ms || !stamps_) {
        recorded_->buffers.submit(own);
        recorded_->buffers.wait(-1);
        return;
    }
    std::vector<VkCommandBuffer> buffers{(*stamps_)[0]};
    buffers.insert(buffers.end(), own.begin(), own.end());
    buffers.push_back((*stamps_)[1]);
    recorded_->buffers.submit(buffers);
    recorded_->buffers.wait(-1);
    times_->read({ms, 1});
}

}  // namespace mnnc::vulkan
