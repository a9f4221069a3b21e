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

Stage::Stage(SessionContext& context, GraphTensors& tensors, const GraphSchedule& schedule, int index,
             std::vector<Item> items)
    : context_(context),
      tensors_(tensors),
      schedule_(schedule),
      index_(index),
      items_(std::move(items)),
      madeHere_(tensors.count()),
      foldedHere_(tensors.count()),
      memory_(context) {
    for (const Item& item : items_)
        for (const int id : item.op->node->outputs) {
            if (id < 0 || item.control) continue;
            madeHere_[static_cast<size_t>(id)] = true;
            if (item.op->folded) foldedHere_[static_cast<size_t>(id)] = true;
        }
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
    }
}

Stage::~Stage() = default;

void Stage::invalidate() noexcept {
    if (plan_) plan_->valid = false;
    for (const Item& item : items_)
        if (item.control) item.control->outdate();
}

std::unique_ptr<StagePlan> Stage::exchange(std::unique_ptr<StagePlan> plan) noexcept {
    plan_.swap(plan);
    for (const Item& item : items_) {
        if (item.control) {
            item.control->outdate();
            continue;
        }
        for (const int id : item.op->node->outputs)
            if (id >= 0) tensors_.setPlanned(id, plan_ ? plan_->tensors.find(id + 1) : nullptr);
    }
    return plan;
}

void Stage::bind() {
    if (!plan_) return;
    plan_->bind(memory_, tensors_.frame);
    for (PlanGuard& guard : plan_->guards) guard.data = tensors_.data(tensors_[guard.input.tensor]);
    if (context_.recordsPlans) context_.planTexts[{schedule_.graph, index_}] = plan_->texts;
}

void Stage::shrink() {
    memory_.shrink(plan_ ? plan_->needs : MemoryNeeds());
}

bool Stage::upToDate() {
    if (!planned()) return false;
    bool moved = false, relocated = false;
    for (PlanGuard& guard : plan_->guards) {
        const Tensor& tensor = tensors_[guard.input.tensor];
        if (!(tensor.shape == guard.shape) || tensor.type != guard.type || tensor.format != guard.format ||
            !sameList(tensor.list, guard.list))
            return false;
        const void* data = tensors_.data(tensor);
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
    if (relocated) bindViews(tensors_.frame, plan_->views);
    if (!moved) return true;
    plan_->valid = false;  // unless all shapes are as before
    for (MovingSlice& moving : plan_->movingSlices)
        if (!sameShapes(moving)) return false;
    return plan_->valid = true;
}

bool Stage::sameShapes(MovingSlice& moving) const {
    const Node& node = *moving.node;
    if (findSearchParts(node.type) && !node.fixed.empty())
        return false;  // its output has room for any number
    node.def->shape({node, moving.inputs, moving.outputs});
    const Tensor &now = *moving.outputs[0], &planned = *plan_->tensors.find(now.number);
    return now.shape == planned.shape && sameList(now.list, planned.list);
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
    tensors_.frame.beginStep(step.scratch);
    step.execution->run(tensors_.frame);
}

Recording* Stage::recording() const noexcept {
    if (!plan_ || plan_->steps.size() != 1) return nullptr;
    return plan_->steps[0].recording.get();
}

// Commands that a device runs as one recording are reported together, and none of them can be left out.
void Stage::executeObserved(PlannedStep& step) {
    bool wanted = true;
    for (const OpCall& call : step.calls) {
        wanted &= context_.observer->before(call, tensors_.frame);
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
    for (const OpCall& call : step.calls) context_.observer->after(call, tensors_.frame);
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
