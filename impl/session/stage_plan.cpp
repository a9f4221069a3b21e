// Gives a plan its memory.
#include "session/stage_plan.h"

#include "backend/recording.h"
#include "plan/fences.h"

namespace mnnc {

StagePlan::StagePlan(SessionContext& context, const std::vector<StageInput>& inputs)
    : context_(context), constants_(context, DeviceUse::Compute) {
    guards.reserve(inputs.size());
    for (const StageInput& input : inputs) guards.emplace_back(context, input);
}

void StagePlan::bind(StageMemory& memory, Frame& frame) {
    MemoryBases bases = memory.reserve(needs);
    const int64_t constantBytes = needs.of(MemoryBlock::Constants);
    if (constantBytes > 0)
        bases.blocks[static_cast<size_t>(MemoryBlock::Constants)] =
            constants_.reserve(constantBytes, "constants on the device");
    frame.grow(operands);
    for (const Placement& placement : placements) placement.bind(frame, bases);
    for (const KnownOperand& operand : known) frame.place(operand.operand, const_cast<void*>(operand.values));
    fenceArena(placements, bases, needs.host);
    bindViews(frame, views);
    const auto now = memory.generations();
    if (!context_.device || (recorded_ && now == recordedFor_)) return;
    record(*context_.device, frame);
    recorded_ = true;
    recordedFor_ = now;
}

// Constants go to the device when the plan is bound for the first time.
void StagePlan::record(DeviceBackend& device, const Frame& frame) {
    if (!constantUploads.empty()) {
        std::vector<DeviceStep> uploads;
        for (auto& upload : constantUploads) uploads.push_back({std::move(upload)});
        constantUploads.clear();
        device.record(std::move(uploads), frame)->run();
    }
    for (PlannedStep& step : steps) {
        if (step.recording) {
            step.recording->recordAgain();
        } else if (!step.toRecord.empty()) {
            step.recording = device.record(std::move(step.toRecord), frame);
            step.toRecord.clear();
        }
    }
}

}  // namespace mnnc
