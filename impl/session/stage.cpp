// Plans a stage, checks whether its plan still holds, and runs its steps.
#include "session/stage.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include "plan/passes.h"
#include "session/control_node.h"
#include "session/encoder.h"
#include "session/run_observer.h"
#include "session/value.h"
#include "tensor/host_copy.h"
#include "tensor/tensor_list.h"

namespace mnnc {

Stage::Stage(SessionContext& context, std::vector<Tensor>& tensors, const GraphSchedule& schedule, int index,
             std::vector<Item> items)
    : context_(context),
      tensors_(tensors),
      schedule_(schedule),
      index_(index),
      items_(std::move(items)),
      memory_(context) {
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
            const auto [found, added] = seen.emplace(std::pair{id, content}, guards_.size());
            if (added)
                guards_.emplace_back(context_, StageInput{id, content, moving});
            else
                guards_[found->second].input.onlyOffset &= moving;
        }
        if (item.op->moving)
            dynamicSlices_.push_back({&item, tensorsOf(node.inputs), tensorsOf(node.outputs)});
    }
}

Stage::~Stage() = default;

void Stage::invalidate() noexcept {
    planned_ = false;
    for (const Item& item : items_)
        if (item.control) item.control->outdate();
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
        for (PlanGuard& guard : stage.guards_) {
            if (!guard.input.content || guard.input.tensor != ids[k]) continue;
            saved_[count_++] = {&tensor, tensor.data, tensor.channelBlock};
            tensor.hasConstantValue = true;
            tensor.channelBlock = 1;
            tensor.data = guard.content.data();
        }
    }
}

Stage::ScopedKnownContents::~ScopedKnownContents() {
    for (size_t i = 0; i < count_; ++i) {
        saved_[i].tensor->hasConstantValue = false;
        saved_[i].tensor->channelBlock = saved_[i].channelBlock;
        saved_[i].tensor->data = saved_[i].data;
    }
}

bool Stage::upToDate() {
    if (!planned_) return false;
    bool moved = false;
    for (PlanGuard& guard : guards_) {
        const Tensor& tensor = tensors_[static_cast<size_t>(guard.input.tensor)];
        if (!(tensor.shape == guard.shape) || tensor.type != guard.type || tensor.format != guard.format ||
            !sameList(tensor.list, guard.list) || tensor.data != guard.data)
            return false;
        if (!guard.input.content || tensor.empty()) continue;
        const void* now = tensor.data;
        if (tensor.channelBlock != 1) {
            copyToHost(tensor, guard.fresh.data(), rowMajor(tensor));
            now = guard.fresh.data();
        }
        if (std::memcmp(now, guard.content.data(), static_cast<size_t>(guard.bytes)) == 0) continue;
        if (!guard.input.onlyOffset) return false;
        std::memcpy(guard.content.data(), now, static_cast<size_t>(guard.bytes));
        moved = true;
    }
    if (!moved) return true;
    planned_ = false;  // unless all shapes are as before
    for (const DynamicSlice& moving : dynamicSlices_)
        if (!sameShapes(moving)) return false;
    return planned_ = true;
}

bool Stage::sameShapes(const DynamicSlice& moving) {
    const Node& node = *moving.item->op->node;
    const ScopedKnownContents shown(*this, *moving.item);
    const Tensor& output = *moving.outputs[0];
    const Shape before = output.shape;
    const std::shared_ptr<const TensorList> listBefore = output.list;
    node.def->shape({node, moving.inputs, moving.outputs});
    return output.shape == before && sameList(output.list, listBefore);
}

void Stage::captureGuards() {
    for (PlanGuard& guard : guards_) {
        const Tensor& tensor = tensors_[static_cast<size_t>(guard.input.tensor)];
        guard.shape = tensor.shape;
        guard.type = tensor.type;
        guard.format = tensor.format;
        guard.list = tensor.list;
        guard.data = tensor.data;
        if (!guard.input.content) continue;
        guard.bytes = hostBytes(tensor, rowMajor(tensor));
        copyToHost(tensor, guard.content.reserve(guard.bytes, "values that a plan depends on"),
                   rowMajor(tensor));
        if (tensor.channelBlock != 1) guard.fresh.reserve(guard.bytes, "values that a plan depends on");
    }
}

// The plan that a new one takes the place of. It is kept until that stands: it holds prepared weights that the new one
// asks for again, and it comes back when there is no new one.
class Stage::Previous {
  public:
    explicit Previous(Stage& stage) : stage_(stage) {
        if (!stage.steps_.empty() || stage.emptyPlan_) tensors_ = stage.tensors_;
        guards_.reserve(stage.guards_.size());
        for (const PlanGuard& guard : stage.guards_) guards_.emplace_back(stage.context_, guard.input);
        exchange();  // from here on nothing throws
    }
    Previous(const Previous&) = delete;
    Previous& operator=(const Previous&) = delete;
    // Brings it back unless it was given up.
    ~Previous() {
        if (givenUp_) return;
        exchange();
        // Pointers to them are everywhere: they come back in place.
        for (size_t i = 0; i < tensors_.size(); ++i) restore(stage_.tensors_[i], std::move(tensors_[i]));
    }
    void giveUp() noexcept { givenUp_ = true; }

  private:
    void exchange() noexcept {
        guards_.swap(stage_.guards_);
        temporaries_.swap(stage_.temporaries_);
        folded_.swap(stage_.folded_);
        steps_.swap(stage_.steps_);
        std::swap(planned_, stage_.planned_);
        std::swap(emptyPlan_, stage_.emptyPlan_);
    }

    Stage& stage_;
    bool planned_ = false, emptyPlan_ = false, givenUp_ = false;
    std::vector<PlanGuard> guards_;
    std::vector<Tensor> tensors_;
    std::deque<Tensor> temporaries_;
    std::deque<BudgetedBuffer> folded_;
    std::vector<PlannedStep> steps_;
};

// The memory of a stage for a new plan, which takes that of the previous one.
class Stage::ReplacingMemory final : public PlanMemory {
  public:
    ReplacingMemory(PlanMemory& memory, Previous& previous) : memory_(memory), previous_(previous) {}
    void* hostArena(int64_t bytes) override {
        previous_.giveUp();
        return memory_.hostArena(bytes);
    }
    DeviceBlock* device(Block block, int64_t bytes) override {
        previous_.giveUp();
        return memory_.device(block, bytes);
    }

  private:
    PlanMemory& memory_;
    Previous& previous_;
};

void Stage::plan() {
    Previous previous(*this);
    makePlan(previous);
}

void Stage::makePlan(Previous& previous) {
    invalidate();
    captureGuards();
    StageEncoder encoder(context_, temporaries_, folded_);
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

    CommandGraph graph(isLiveOut);
    std::unordered_map<CommandGraph::Id, ControlNode*> controlOf;
    std::vector<EncodedCommand> commands;
    for (const Item& item : items_) {
        context_.cancel.check();
        if (item.control) {
            const Node& node = *item.op->node;
            controlOf[graph.appendControl(node.type, node.name, tensorsOf(node.inputs))] = item.control;
            continue;
        }
        // Values made by earlier stages are shown to the ops that read them while planning, and only to them.
        const ScopedKnownContents shown(*this, item);
        commands.clear();
        encoder.encode(*item.op, tensorsOf(item.op->node->inputs), tensorsOf(item.op->node->outputs),
                       commands);
        for (EncodedCommand& command : commands) graph.append(std::move(command.command), command.flops);
    }
    const auto temporary = [&](const Tensor& like) {
        Tensor* made = encoder.temporary(like.shape, like.type, like.format);
        made->name = like.name;
        made->list = like.list;
        return made;
    };
    std::vector<PassText> texts;
    PassObserver observer;
    if (context_.recordsPlans)
        observer = [&](const char* pass, const std::string& text) { texts.push_back({pass, text}); };
    runPasses(graph, {context_.wanted(), temporary}, observer);

    StepPlan plan(graph);
    ReplacingMemory memory(memory_, previous);
    const auto fold = [&](const Command& command) { encoder.fold(command); };
    runPasses(plan,
              {*context_.cpu, context_.device, context_.cancel, staysAlive, temporary, fold, memory,
               context_.recordsPlans},
              observer);
    if (context_.recordsPlans) context_.planTexts[{schedule_.graph, index_}] = std::move(texts);
    previous.giveUp();
    // Of a half-filled list revalidate() would make a plan: from here on nothing throws.
    steps_.reserve(plan.steps.size());
    for (Step& step : plan.steps) {
        ControlNode* control = step.execution ? nullptr : controlOf.find(step.id)->second;
        steps_.push_back({std::move(step.execution), control, step.onDevice, std::move(step.calls)});
    }
    planned_ = true;
    emptyPlan_ = steps_.empty();
}

void Stage::execute() {
    for (const PlannedStep& step : steps_) {
        context_.cancel.check();
        if (!step.execution)
            step.control->run();
        else if (context_.observer)
            executeObserved(step);
        else
            step.execution->onExecute();
    }
}

// Commands that a device runs as one recording are reported together, and none of them can be left out.
void Stage::executeObserved(const PlannedStep& step) {
    bool wanted = true;
    for (const OpCall& call : step.calls) {
        wanted &= context_.observer->before(call);
        if (!wanted && step.onDevice)
            fail(Status::NotSupported,
                 "MNN_OP_SKIP came back from a callback before operator '%s', which the %s backend takes in "
                 "one go "
                 "with others: it cannot be left out there",
                 call.record.name.c_str(), call.record.backend);
    }
    if (wanted) step.execution->onExecute();
    for (const OpCall& call : step.calls) context_.observer->after(call);
}

void Stage::appendRecords(std::vector<OpRecord>& records) const {
    for (const PlannedStep& step : steps_)
        for (const OpCall& call : step.calls)
            if (!call.inserted) records.push_back(call.record);
}

}  // namespace mnnc
