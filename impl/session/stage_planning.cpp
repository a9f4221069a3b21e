// Makes the plan of a stage. What depends on nothing that has changed is taken over from the plan before: operators that
// became commands, and executions of commands.
#include <functional>
#include <set>
#include <unordered_map>

#include "plan/passes.h"
#include "session/control_node.h"
#include "session/stage.h"
#include "session/value.h"
#include "tensor/host_copy.h"

namespace mnnc {

void Stage::plan(std::unique_ptr<StagePlan>& before, const StagePlan* like, bool takesOver) {
    auto fresh = std::make_unique<StagePlan>(context_, inputs_);
    before = exchange(std::move(fresh));
    try {
        makePlan(!takesOver ? nullptr : before ? before.get() : like);
    } catch (...) {
        plan_.reset();  // what it shares has no state worth keeping
        exchange(std::move(before));
        throw;
    }
    ++context_.stagePlans;
    context_.counts.executions += plan_->executions.created();
}

void Stage::captureGuards() {
    for (PlanGuard& guard : plan_->guards) {
        const Tensor& tensor = tensors_[static_cast<size_t>(guard.input.tensor)];
        guard.shape = tensor.shape;
        guard.type = tensor.type;
        guard.format = tensor.format;
        guard.list = tensor.list;
        guard.data = frame_.data<void>(tensor);
        if (!guard.input.content) continue;
        guard.bytes = hostBytes(tensor, rowMajor(tensor));
        copyToHost(tensor, guard.data, guard.content.reserve(guard.bytes, "values that a plan depends on"),
                   rowMajor(tensor));
        if (tensor.channelBlock != 1) guard.fresh.reserve(guard.bytes, "values that a plan depends on");
    }
}

// Constants that another stage computed may lie where others did before.
bool Stage::readsEarlierConstants(const Item& item) const {
    if (index_ == 0) return false;
    for (const int id : item.op->node->inputs)
        if (id >= 0 && schedule_.folded[static_cast<size_t>(id)] && !foldedHere_[static_cast<size_t>(id)] &&
            tensors_[static_cast<size_t>(id)].usage != Usage::Constant)
            return true;
    return false;
}

Encoding::Ptr Stage::encode(const Item& item, Encoding::Ptr before, const Encoding::Makers& makerOf) {
    const std::vector<Tensor*> inputs = tensorsOf(item.op->node->inputs);
    const std::vector<Tensor*> outputs = tensorsOf(item.op->node->outputs);
    // Values made by earlier stages are shown to the ops that read them while planning, and only to them.
    const ScopedKnownContents shown(*this, item);
    if (before && !shown.any() && !readsEarlierConstants(item) && before->fits(*item.op, inputs, makerOf)) {
        before->apply(outputs);
        return before;
    }
    ++context_.counts.encoded;
    return std::make_shared<const Encoding>(context_, planning_, *item.op, inputs, outputs, makerOf);
}

void Stage::makePlan(const StagePlan* before) {
    captureGuards();
    std::set<const Tensor*> readByControl;
    for (const Item& item : items_)
        if (item.control)
            for (const Tensor* input : tensorsOf(item.op->node->inputs)) readByControl.insert(input);
    const Tensor* first = tensors_.data();
    const Tensor* last = first + tensors_.size();
    const auto staysAlive = [&](const Tensor* tensor) {
        if (std::less<>()(tensor, first) || !std::less<>()(tensor, last)) return false;
        return schedule_.lastStage[static_cast<size_t>(tensor - first)] > index_;
    };
    const auto isLiveOut = [&](const Tensor* tensor) {
        return staysAlive(tensor) || readByControl.count(tensor) > 0;
    };

    const std::vector<bool>& coordinates =
        context_.net->graphs[static_cast<size_t>(schedule_.graph)].coordinates;
    const auto isCoordinate = [&](const Tensor* tensor) {
        const auto id = static_cast<size_t>(tensor - first);
        return isLiveOut(tensor) && id < coordinates.size() && coordinates[id];
    };

    CommandGraph graph(isLiveOut);
    std::unordered_map<CommandGraph::Id, ControlNode*> controlOf;
    std::unordered_map<const Tensor*, Encoding::Ptr> makers;
    const Encoding::Makers makerOf = [&](const Tensor* tensor) {
        const auto found = makers.find(tensor);
        return found == makers.end() ? nullptr : found->second;
    };
    for (size_t i = 0; i < items_.size(); ++i) {
        const Item& item = items_[i];
        context_.cancel.check();
        Encoding::Ptr& encoding = plan_->encodings.emplace_back();
        if (item.control) {
            const Node& node = *item.op->node;
            controlOf[graph.appendControl(node.type, node.name, tensorsOf(node.inputs))] = item.control;
            continue;
        }
        encoding = encode(item, before ? before->encodings[i] : nullptr, makerOf);
        if (item.op->folded)
            for (const Tensor* output : tensorsOf(item.op->node->outputs)) makers[output] = encoding;
        for (const EncodedCommand& command : encoding->commands())
            graph.append(command.command, command.flops, command.refusal);
    }
    const auto temporary = [&](const Tensor& like) {
        return plan_->temporary(like, before, planning_.numbers, index_);
    };
    std::vector<PassText> texts;
    PassObserver observer;
    if (context_.recordsPlans)
        observer = [&](const char* pass, const std::string& text) { texts.push_back({pass, text}); };
    runPasses(graph, {context_.wanted(), temporary, isCoordinate}, observer);

    std::set<const Tensor*> madeHere;
    for (const Item& item : items_)
        if (!item.control)
            for (const Tensor* output : tensorsOf(item.op->node->outputs)) madeHere.insert(output);
    const auto isFromOutside = [&](const Tensor* tensor) {
        if (tensor->hasConstantValue || tensor->usage == Usage::Input) return true;
        const bool ofGraph = !std::less<>()(tensor, first) && std::less<>()(tensor, last);
        return ofGraph && madeHere.count(tensor) == 0;
    };
    StepPlan plan(graph);
    PlanningMemory memory(memory_, *plan_);
    StageEncoder constants(context_, planning_, OperandNumbers::Kind::Constant, index_, 0, plan_->temporaries,
                           plan_->folded);
    const auto fold = [&](const Command& command) { constants.fold(command); };
    StepContext steps{*context_.cpu,
                      context_.device,
                      context_.cancel,
                      staysAlive,
                      isFromOutside,
                      temporary,
                      fold,
                      memory,
                      frame_,
                      planning_.numbers,
                      index_,
                      context_.recordsPlans,
                      context_.measuresAlgorithms};
    steps.before = before ? &before->executions : nullptr;
    steps.made = &plan_->executions;
    runPasses(plan, steps, observer);

    plan_->steps.reserve(plan.steps.size());
    for (Step& step : plan.steps) {
        ControlNode* control = step.execution || step.recording ? nullptr : controlOf.find(step.id)->second;
        plan_->steps.push_back({std::move(step.execution), std::move(step.recording), control, step.onDevice,
                                step.scratch, std::move(step.calls)});
    }
    plan_->placements = std::move(plan.placements);
    plan_->views = std::move(plan.views);
    plan_->staged = std::move(plan.staged);
    plan_->known = std::move(plan.known);
    plan_->recordedFor = memory_.generations();
    if (context_.recordsPlans)
        context_.planTexts[{schedule_.graph, index_}] = plan_->texts = std::move(texts);
    plan_->finish();
}

}  // namespace mnnc
