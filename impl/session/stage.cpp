// Checks whether a stage's plan still holds, and runs its steps.
#include "session/stage.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "ops/search_parts.h"
#include "session/control_node.h"
#include "session/run_observer.h"
#include "session/value.h"
#include "tensor/host_copy.h"
#include "tensor/tensor_list.h"

namespace mnnc {

Stage::Stage(SessionContext& context, std::vector<Tensor>& tensors, PlanningFrame& planning, Frame& frame,
             const GraphSchedule& schedule, int index, std::vector<Item> items)
    : context_(context),
      tensors_(tensors),
      planning_(planning),
      frame_(frame),
      schedule_(schedule),
      index_(index),
      items_(std::move(items)),
      foldedHere_(tensors.size()),
      memory_(context) {
    for (const Item& item : items_)
        if (item.op->folded)
            for (const int id : item.op->node->outputs)
                if (id >= 0) foldedHere_[static_cast<size_t>(id)] = true;
    // The first stage depends on the inputs' shapes alone: its pipeline knows when they change.
    if (index_ == 0) return;
    std::map<std::pair<int, bool>, size_t> seen;
    for (const Item& item : items_) {
        const Node& node = *item.op->node;
        for (size_t k = 0; k < node.inputs.size(); ++k) {
            const int id = node.inputs[k];
            if (id < 0 || schedule_.folded[static_cast<size_t>(id)]) continue;
            const bool content = k < 32 && ((item.op->content >> k) & 1u);
            const bool moving = k < 32 && ((item.op->moving >> k) & 1u);
            if (!content && !schedule_.fromControl[static_cast<size_t>(id)]) continue;
            const auto [found, added] = seen.emplace(std::pair{id, content}, inputs_.size());
            if (added)
                inputs_.push_back({id, content, moving});
            else
                inputs_[found->second].onlyOffset &= moving;
        }
        if (item.op->moving)
            dynamicSlices_.push_back({&item, tensorsOf(node.inputs), tensorsOf(node.outputs)});
    }
}

Stage::~Stage() = default;

void Stage::invalidate() noexcept {
    if (plan_) plan_->valid = false;
    for (const Item& item : items_)
        if (item.control) item.control->outdate();
}

std::unique_ptr<StagePlan> Stage::exchange(std::unique_ptr<StagePlan> plan) noexcept {
    if (plan_) plan_->exchangeTensors();
    plan_.swap(plan);
    if (plan_) plan_->exchangeTensors();
    for (const Item& item : items_)
        if (item.control) item.control->outdate();
    return plan;
}

void Stage::bind() {
    if (!plan_) return;
    plan_->bind(memory_, frame_);
    // Views of them have moved along.
    for (PlanGuard& guard : plan_->guards)
        guard.data = frame_.data<void>(tensors_[static_cast<size_t>(guard.input.tensor)]);
    if (context_.recordsPlans) context_.planTexts[{schedule_.graph, index_}] = plan_->texts;
}

void Stage::shrink() {
    memory_.shrink(plan_ ? plan_->needs : MemoryNeeds());
}

std::vector<Tensor*> Stage::tensorsOf(const std::vector<int>& ids) const {
    std::vector<Tensor*> result;
    for (const int id : ids)
        if (id >= 0) result.push_back(&tensors_[static_cast<size_t>(id)]);
    return result;
}

Stage::ScopedKnownContents::ScopedKnownContents(Stage& stage, const Item& item) {
    const std::vector<int>& ids = item.op->node->inputs;
    for (size_t k = 0; k < ids.size() && k < saved_.size(); ++k) {
        if (ids[k] < 0 || !((item.op->content >> k) & 1u)) continue;
        Tensor& tensor = stage.tensors_[static_cast<size_t>(ids[k])];
        if (tensor.hasConstantValue) continue;
        for (PlanGuard& guard : stage.plan_->guards) {
            if (!guard.input.content || guard.input.tensor != ids[k]) continue;
            saved_[count_++] = {&tensor, tensor.channelBlock};
            tensor.hasConstantValue = true;
            tensor.channelBlock = 1;
            tensor.values = guard.content.data();
        }
    }
}

Stage::ScopedKnownContents::~ScopedKnownContents() {
    for (size_t i = 0; i < count_; ++i) {
        saved_[i].tensor->hasConstantValue = false;
        saved_[i].tensor->channelBlock = saved_[i].channelBlock;
        saved_[i].tensor->values = nullptr;
    }
}

bool Stage::upToDate() {
    if (!planned()) return false;
    bool moved = false, relocated = false;
    for (PlanGuard& guard : plan_->guards) {
        const Tensor& tensor = tensors_[static_cast<size_t>(guard.input.tensor)];
        if (!(tensor.shape == guard.shape) || tensor.type != guard.type || tensor.format != guard.format ||
            !sameList(tensor.list, guard.list))
            return false;
        const void* data = frame_.data<void>(tensor);
        relocated |= data != guard.data;
        guard.data = data;
        if (!guard.input.content || tensor.empty()) continue;
        const void* now = data;
        if (tensor.channelBlock != 1) {
            copyToHost(tensor, data, guard.fresh.data(), rowMajor(tensor));
            now = guard.fresh.data();
        }
        if (std::memcmp(now, guard.content.data(), static_cast<size_t>(guard.bytes)) == 0) continue;
        if (!guard.input.onlyOffset) return false;
        std::memcpy(guard.content.data(), now, static_cast<size_t>(guard.bytes));
        moved = true;
    }
    if (relocated) bindViews(frame_, plan_->views);
    if (!moved) return true;
    plan_->valid = false;  // unless all shapes are as before
    for (const DynamicSlice& moving : dynamicSlices_)
        if (!sameShapes(moving)) return false;
    return plan_->valid = true;
}

bool Stage::sameShapes(const DynamicSlice& moving) {
    const Node& node = *moving.item->op->node;
    if (findSearchParts(node.type) && !node.fixed.empty())
        return false;  // its output has room for any number
    const ScopedKnownContents shown(*this, *moving.item);
    const Tensor& output = *moving.outputs[0];
    const Shape before = output.shape;
    const std::shared_ptr<const TensorList> listBefore = output.list;
    node.def->shape({node, moving.inputs, moving.outputs});
    return output.shape == before && sameList(output.list, listBefore);
}

void Stage::execute() {
    for (PlannedStep& step : plan_->steps) {
        context_.cancel.check();
        if (step.control)
            step.control->run();
        else if (context_.observer)
            executeObserved(step);
        else
            run(step);
    }
}

void Stage::run(PlannedStep& step) {
    if (!step.execution) return step.recording->run();
    frame_.beginStep(step.scratch);
    step.execution->run(frame_);
}

Recording* Stage::recording() const noexcept {
    if (!plan_ || plan_->steps.size() != 1) return nullptr;
    return plan_->steps[0].recording.get();
}

// Commands that a device runs as one recording are reported together, and none of them can be left out.
void Stage::executeObserved(PlannedStep& step) {
    bool wanted = true;
    for (const OpCall& call : step.calls) {
        wanted &= context_.observer->before(call, frame_);
        if (!wanted && step.onDevice)
            fail(Status::NotSupported,
                 "MNN_OP_SKIP came back from a callback before operator '%s', which the %s backend takes in "
                 "one go "
                 "with others: it cannot be left out there",
                 call.record.name.c_str(), call.record.backend);
    }
    if (wanted && step.onDevice && context_.observer->wantsDeviceTimes())
        executeTimed(step);
    else if (wanted)
        run(step);
    for (const OpCall& call : step.calls) context_.observer->after(call, frame_);
}

void Stage::executeTimed(PlannedStep& step) {
    std::vector<double> ms(step.calls.size(), -1.0);
    step.recording->runTimed(ms);
    for (size_t i = 0; i < ms.size(); ++i) step.calls[i].deviceMs = ms[i];
}

void Stage::appendRecords(std::vector<OpRecord>& records) const {
    for (const PlannedStep& step : plan_->steps)
        for (const OpCall& call : step.calls)
            if (!call.inserted) records.push_back(call.record);
}

}  // namespace mnnc
