// Keeps the tensors of plans apart, and binds a plan to memory.
#include "session/stage_plan.h"

#include <algorithm>

#include "backend/recording.h"
#include "plan/fences.h"
#include "session/exchange_state.h"

namespace mnnc {

StagePlan::StagePlan(SessionContext& context, const std::vector<StageInput>& inputs)
    : constants(context, DeviceUse::Compute) {
    guards.reserve(inputs.size());
    for (const StageInput& input : inputs) guards.emplace_back(context, input);
}

Tensor* StagePlan::temporary(const Tensor& like, const StagePlan* before, OperandNumbers& numbers,
                             int stage) {
    const size_t number = taken_[&like]++;
    std::shared_ptr<Tensor> tensor;
    if (before)
        if (const auto found = before->made_.find(&like);
            found != before->made_.end() && number < found->second.size())
            tensor = found->second[number];
    if (!tensor) tensor = std::make_shared<Tensor>();
    Tensor fresh;
    fresh.name = like.name;
    fresh.shape = like.shape;
    fresh.type = like.type;
    fresh.format = like.format;
    fresh.list = like.list;
    fresh.number = numbers.of(OperandNumbers::Kind::Storage, stage, like.number, static_cast<int>(number));
    *tensor = std::move(fresh);
    made_[&like].push_back(tensor);
    return tensor.get();
}

std::unordered_map<const Tensor*, const Tensor*> StagePlan::originals() const {
    std::unordered_map<const Tensor*, const Tensor*> result;
    for (const auto& [like, list] : made_)
        for (const auto& tensor : list) result[tensor.get()] = like;
    return result;
}

void StagePlan::finish() {
    taken_.clear();
    for (const Encoding::Ptr& encoding : encodings)
        if (encoding)
            for (Tensor& tensor : encoding->temporaries()) shared_.push_back(&tensor);
    for (const auto& [like, list] : made_)
        for (const auto& tensor : list) shared_.push_back(tensor.get());
    states_.resize(shared_.size());
    valid = true;
}

void StagePlan::exchangeTensors() noexcept {
    for (size_t i = 0; i < shared_.size(); ++i) exchangeState(*shared_[i], states_[i]);
}

void StagePlan::bind(StageMemory& memory, Frame& frame) {
    MemoryBases bases;
    bases.host = static_cast<char*>(memory.hostArena(needs.host));
    bases.blocks[static_cast<size_t>(MemoryBlock::Constants)] = constants.get();
    for (const MemoryBlock block : {MemoryBlock::Arena, MemoryBlock::Uploads, MemoryBlock::Downloads})
        if (needs.of(block) > 0)
            bases.blocks[static_cast<size_t>(block)] = memory.device(block, needs.of(block));
    for (const Placement& placement : placements) placement.bind(frame, bases);
    for (const KnownOperand& operand : known) frame.place(operand.operand, const_cast<void*>(operand.values));
    fenceArena(placements, bases, needs.host);
    bindViews(frame, views);
    const auto now = memory.generations();
    if (now == recordedFor) return;
    for (const PlannedStep& step : steps)
        if (step.recording) step.recording->recordAgain();
    recordedFor = now;
}

void* PlanningMemory::hostArena(int64_t bytes) {
    plan_.needs.host = std::max(plan_.needs.host, bytes);
    return memory_.hostArena(bytes);
}

DeviceBlock* PlanningMemory::device(Block block, int64_t bytes) {
    plan_.needs.of(block) = std::max(plan_.needs.of(block), bytes);
    return block == Block::Constants ? plan_.constants.reserve(bytes, "constants on the device")
                                     : memory_.device(block, bytes);
}

}  // namespace mnnc
