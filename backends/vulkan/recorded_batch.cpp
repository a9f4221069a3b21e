// Records executions into command buffers and submits them.
#include "backends/vulkan/recorded_batch.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

constexpr size_t kBatch = 32;  // executions in one command buffer, unless the host wants one for each

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

const Block& blockOf(const DevicePlace& place) {
    return static_cast<const Block&>(*place.block);
}

}  // namespace

RecordedBatch::RecordedBatch(VulkanBackend& backend, std::span<const DeviceStep> steps, const Frame& frame)
    : backend_(backend), device_(backend.gpu()), frame_(frame) {
    for (const DeviceStep& step : steps) {
        steps_.push_back(step);
        const auto& one = executionOf(step);
        if (one.hasHostPart()) hostParts_.push_back(&one);
    }
    divide();
    makeReports();
    commands_ = encode(nullptr);
}

void RecordedBatch::divide() {
    const size_t maxExecutions = backend_.batched() ? kBatch : 1;
    for (size_t i = 0; i < steps_.size(); ++i) {
        const Operand* movable = executionOf(steps_[i]).movable();
        if (movable || ranges_.empty() || ranges_.back().movable || i - ranges_.back().begin == maxExecutions)
            ranges_.push_back({i, i, movable});
        ++ranges_.back().end;
    }
}

void RecordedBatch::recordAgain() {
    pieces_.reset();
    timed_.reset();
    commands_.reset();
    commands_ = encode(nullptr);
}

std::unique_ptr<RecordedBatch::Commands> RecordedBatch::encode(const Timestamps* timestamps) {
    auto commands = std::make_unique<Commands>(backend_, ranges_.size(), timestamps);
    // Neighbouring ranges have the same recorder, which so finds hazards across their borders.
    std::optional<FrameRecorder> recorder;
    for (size_t i = 0; i < ranges_.size(); ++i) {
        if (ranges_[i].movable) {
            recorder.reset();
            commands->moved.push_back(encodeAlone(i, commands->buffers[i], timestamps));
            continue;
        }
        if (!recorder) recorder.emplace(backend_, commands->sets, frame_);
        encode(ranges_[i], commands->buffers[i], *recorder, timestamps);
    }
    return commands;
}

RecordedBatch::Moved RecordedBatch::encodeAlone(size_t range, VkCommandBuffer buffer, const Timestamps* timestamps) {
    const DevicePlace& place = frame_.device(*ranges_[range].movable);
    Moved moved{range, std::make_unique<DescriptorSets>(device_), blockOf(place).serial(), place.offset};
    FrameRecorder recorder(backend_, *moved.sets, frame_);
    encode(ranges_[range], buffer, recorder, timestamps);
    return moved;
}

void RecordedBatch::encode(const Range& range, VkCommandBuffer buffer, FrameRecorder& recorder,
                           const Timestamps* timestamps) {
    recorder.begin(buffer);
    if (timestamps && range.begin == 0) {
        timestamps->reset(buffer);
        timestamps->write(buffer, 0);
    }
    const bool last = range.end == steps_.size();
    // The host may also use the memory, and its own queue.
    const bool shared = range.movable && (device_->ofHost() || blockOf(frame_.device(*range.movable)).shared());
    if (shared)
        recorder.waitForQueue();
    else if (range.movable && range.begin > 0)
        recorder.separate();
    for (size_t i = range.begin; i < range.end; ++i) {
        recorder.beginStep(steps_[i], reportOf(i));
        executionOf(steps_[i]).encode(recorder);
        if (!timestamps) continue;
        recorder.separate();
        timestamps->write(buffer, static_cast<uint32_t>(i + 1));
    }
    if (range.movable && !last) shared ? recorder.makeVisibleToQueue() : recorder.separate();
    recorder.end(last);
}

// Records again the executions that use a tensor whose memory has changed.
void RecordedBatch::recordMoved(Commands& commands) {
    for (Moved& moved : commands.moved) {
        const DevicePlace& place = frame_.device(*ranges_[moved.range].movable);
        if (moved.block == blockOf(place).serial() && moved.offset == place.offset) continue;
        commands.buffers.renew(moved.range, [&](VkCommandBuffer buffer) {
            moved = encodeAlone(moved.range, buffer, commands.timestamps);
        });
    }
}

void RecordedBatch::makeReports() {
    int64_t bytes = 0;
    for (size_t i = 0; i < steps_.size(); ++i) {
        const int64_t own = executionOf(steps_[i]).reportBytes();
        if (own == 0) continue;
        reporting_.push_back({i, bytes, own});
        bytes = checkedAdd(bytes, roundUp(own, backend_.alignment()), "reports of a run");
    }
    if (!reporting_.empty()) reports_ = backend_.allocate(bytes, DeviceUse::Download);
}

Binding RecordedBatch::reportOf(size_t step) const {
    const auto report =
        std::partition_point(reporting_.begin(), reporting_.end(), [&](const Report& one) { return one.step < step; });
    if (report == reporting_.end() || report->step != step) return {};
    return bindBlock(static_cast<const Block&>(*reports_), report->offset, report->bytes, true);
}

void RecordedBatch::run() {
    const auto start = Clock::now();
    begin();
    end(-1);
    ms_ = millisecondsSince(start);
}

void RecordedBatch::runTimed(std::span<double> ms) {
    if (!Timestamps::supported(*device_)) return run();
    if (!timestamps_) timestamps_ = std::make_unique<Timestamps>(device_, static_cast<uint32_t>(steps_.size() + 1));
    if (!timed_) timed_ = encode(timestamps_.get());
    submit(*timed_);
    wait(*timed_, -1);
    timestamps_->read(ms);
}

// Returns the pieces, recorded for the memory that the frame has now. Throws as RecordedPieces::prepare() does.
RecordedPieces& RecordedBatch::pieces() {
    if (!pieces_) {
        std::vector<Binding> reports;
        for (size_t i = 0; i < steps_.size(); ++i) reports.push_back(reportOf(i));
        pieces_ = std::make_unique<RecordedPieces>(backend_, steps_, reports, frame_);
    }
    pieces_->prepare();
    return *pieces_;
}

void RecordedBatch::runCancellable(const Cancellation& cancel) {
    cancel.check();
    if (ms_ >= 0 && ms_ <= RecordedPieces::kMaxMs) return run();
    device_->requireUsable();
    RecordedPieces& prepared = pieces();
    const auto start = Clock::now();
    for (const VulkanExecution* execution : hostParts_) execution->beforeSubmit(frame_);
    prepared.run(cancel);
    ms_ = millisecondsSince(start);
    for (const Report& report : reporting_) readReport(report);
}

void RecordedBatch::runStep(size_t step, double* ms) {
    device_->requireUsable();
    RecordedPieces& prepared = pieces();
    executionOf(steps_[step]).beforeSubmit(frame_);
    prepared.runStep(step, ms);
    for (const Report& report : reporting_)
        if (report.step == step) readReport(report);
}

void RecordedBatch::begin() {
    submit(*commands_);
}

bool RecordedBatch::end(int64_t nanoseconds) {
    return wait(*commands_, nanoseconds);
}

void RecordedBatch::submit(Commands& commands) {
    device_->requireUsable();  // must precede the host's part, which could write into memory of another process
    recordMoved(commands);
    for (const VulkanExecution* execution : hostParts_) execution->beforeSubmit(frame_);
    commands.buffers.submit();
}

bool RecordedBatch::wait(const Commands& commands, int64_t nanoseconds) {
    if (!commands.buffers.wait(nanoseconds)) return false;
    for (const Report& report : reporting_) readReport(report);
    return true;
}

void RecordedBatch::readReport(const Report& report) const {
    const auto* memory = static_cast<const char*>(reports_->host()) + report.offset;
    executionOf(steps_[report.step]).afterRun(reinterpret_cast<const uint32_t*>(memory));
}

}  // namespace mnnc::vulkan
