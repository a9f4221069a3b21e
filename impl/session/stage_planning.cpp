// Makes plans of a stage. What depends on nothing that has changed is taken over from a plan before: operators that became
// commands, and executions of commands.
#include <deque>
#include <set>
#include <unordered_map>

#include "plan/passes.h"
#include "session/control_node.h"
#include "session/stage.h"
#include "session/value.h"
#include "tensor/host_copy.h"

namespace mnnc {

class Stage::Planning {
  public:
    Planning(Stage& stage, const Request& request)
        : stage_(stage),
          context_(stage.context_),
          numbers_(stage.tensors_.planning.numbers),
          request_(request),
          result_(std::make_unique<StagePlan>(context_, stage.inputs_)),
          plan_(*result_) {}

    // The shapes of all operators; encodings become commands.
    void encodeAll(CommandGraph& graph) {
        captureGuards();
        for (size_t i = 0; i < stage_.items_.size(); ++i) {
            const Item& item = stage_.items_[i];
            context_.cancel.check();
            Encoding::Ptr& encoding = plan_.encodings.emplace_back();
            const Node& node = *item.op->node;
            const std::vector<Tensor*> inputs = inputsOf(node);
            if (item.control) {
                controlOf_[graph.appendControl(node.type, node.name, inputs)] = item.control;
                readByControl_.insert(inputs.begin(), inputs.end());
                continue;
            }
            encoding = encode(item, inputs, request_.before ? request_.before->encodings[i] : nullptr);
            encoding->addTensors(plan_.tensors);
            if (item.op->folded)
                for (const int id : node.outputs) makers_[id + 1] = encoding;
            for (const EncodedCommand& command : encoding->commands(plan_.tensors))
                graph.append(command.command, command.flops, command.refusal);
        }
    }

    std::unique_ptr<StagePlan> make() {
        CommandGraph graph([this](const Tensor* tensor) { return isLiveOut(tensor); });
        encodeAll(graph);
        PassObserver observer;
        if (context_.recordsPlans)
            observer = [this](const char* pass, const std::string& text) {
                plan_.texts.push_back({pass, text});
            };
        const auto temporary = [this](const Tensor& like) {
            return plan_.tensors.addLike(like, numbers_, stage_.index_);
        };
        const std::vector<bool>& coordinates =
            context_.net->graphs[static_cast<size_t>(stage_.schedule_.graph)].coordinates;
        const auto isCoordinate = [&](const Tensor* tensor) {
            const auto id = static_cast<size_t>(tensor->number) - 1;
            return isLiveOut(tensor) && id < coordinates.size() && coordinates[id];
        };
        runPasses(graph, {context_.wanted(), temporary, isCoordinate}, observer);

        StepPlan steps(graph);
        StageEncoder constants(context_, stage_.tensors_.planning, OperandNumbers::Kind::Constant,
                               stage_.index_, 0, plan_.temporaries, plan_.folded);
        StepContext context{*context_.cpu,
                            context_.device,
                            context_.cancel,
                            [this](const Tensor* tensor) { return isReadLater(tensor); },
                            [this](const Tensor* tensor) { return isFromOutside(tensor); },
                            temporary,
                            [&](const Command& command) { constants.fold(command); },
                            numbers_,
                            &plan_.tensors,
                            stage_.index_,
                            context_.recordsPlans,
                            context_.measuresAlgorithms};
        context.before = request_.before ? &request_.before->executions : nullptr;
        context.made = &plan_.executions;
        runPasses(steps, context, observer);
        take(std::move(steps));
        ++context_.stagePlans;
        context_.counts.executions += plan_.executions.created();
        return std::move(result_);
    }

    std::unique_ptr<StagePlan> inferred() { return std::move(result_); }

  private:
    // The plan's own tensor for one of the graph. A tensor that the plan only reads is a copy of the present one.
    Tensor* operand(int id) {
        if (Tensor* known = plan_.tensors.find(id + 1)) return known;
        for (const Tensor& input : request_.inputs)
            if (input.number == id + 1) return plan_.tensors.add(input);
        Tensor copy = stage_.tensors_[id];
        copy.aliasOf = nullptr;
        copy.aliasOffset = 0;
        return plan_.tensors.add(std::move(copy));
    }
    std::vector<Tensor*> inputsOf(const Node& node) {
        std::vector<Tensor*> result;
        for (const int id : node.inputs)
            if (id >= 0) result.push_back(operand(id));
        return result;
    }

    bool isReadLater(const Tensor* tensor) const {
        return stage_.tensors_.isOfGraph(tensor->number) &&
               stage_.schedule_.lastStage[static_cast<size_t>(tensor->number) - 1] > stage_.index_;
    }
    bool isLiveOut(const Tensor* tensor) const {
        return isReadLater(tensor) || readByControl_.count(tensor) > 0;
    }
    bool isFromOutside(const Tensor* tensor) const {
        if (tensor->hasConstantValue || tensor->usage == Usage::Input) return true;
        return stage_.tensors_.isOfGraph(tensor->number) &&
               !stage_.madeHere_[static_cast<size_t>(tensor->number) - 1];
    }

    void captureGuards() {
        for (PlanGuard& guard : plan_.guards) {
            const Tensor& tensor = stage_.tensors_[guard.input.tensor];
            guard.shape = tensor.shape;
            guard.type = tensor.type;
            guard.format = tensor.format;
            guard.list = tensor.list;
            if (!guard.input.content) continue;
            guard.bytes = hostBytes(tensor, rowMajor(tensor));
            copyToHost(tensor, stage_.tensors_.data(tensor),
                       guard.content.reserve(guard.bytes, "values that a plan depends on"), rowMajor(tensor));
            if (tensor.channelBlock != 1) guard.fresh.reserve(guard.bytes, "values that a plan depends on");
        }
    }

    // The inputs of an operator as its shape rule sees them: it knows the values on which the plan depends. Those are copies in
    // `shown`; whether there are any.
    bool showKnown(const Item& item, std::vector<Tensor*>& inputs, std::deque<Tensor>& shown) {
        size_t operand = 0;
        for (size_t k = 0; k < item.op->node->inputs.size() && k < 32; ++k) {
            const int id = item.op->node->inputs[k];
            if (id < 0) continue;
            Tensor*& input = inputs[operand++];
            if (!((item.op->content >> k) & 1u) || input->hasConstantValue) continue;
            for (PlanGuard& guard : plan_.guards) {
                if (!guard.input.content || guard.input.tensor != id) continue;
                Tensor& known = shown.emplace_back(*input);
                known.hasConstantValue = true;
                known.channelBlock = 1;
                known.values = guard.content.data();
                input = &known;
                break;
            }
        }
        return !shown.empty();
    }

    // Constants that another stage computed may lie where others did before.
    bool readsEarlierConstants(const Item& item) const {
        if (stage_.index_ == 0) return false;
        for (const int id : item.op->node->inputs)
            if (id >= 0 && stage_.schedule_.folded[static_cast<size_t>(id)] &&
                !stage_.foldedHere_[static_cast<size_t>(id)] && stage_.tensors_[id].usage != Usage::Constant)
                return true;
        return false;
    }

    Encoding::Ptr encode(const Item& item, std::vector<Tensor*> inputs, Encoding::Ptr before) {
        const Encoding::Makers makerOf = [this](int number) {
            const auto found = makers_.find(number);
            return found == makers_.end() ? nullptr : found->second;
        };
        std::deque<Tensor> shown;
        const bool knows = showKnown(item, inputs, shown);
        if (before && !knows && !readsEarlierConstants(item) && before->fits(*item.op, inputs, makerOf))
            return before;
        std::vector<Tensor> outputs;
        for (const int id : item.op->node->outputs)
            if (id >= 0) outputs.push_back(stage_.tensors_.declared(id));
        ++context_.counts.encoded;
        const auto encoding = std::make_shared<const Encoding>(context_, stage_.tensors_.planning, *item.op,
                                                               inputs, outputs, makerOf);
        if (item.op->moving && knows) addMovingSlice(*item.op->node, inputs, outputs);
        return encoding;
    }

    void addMovingSlice(const Node& node, const std::vector<Tensor*>& inputs,
                        const std::vector<Tensor>& outputs) {
        MovingSlice& slice = plan_.movingSlices.emplace_back();
        slice.node = &node;
        for (const Tensor* input : inputs) slice.inputs.push_back(&slice.tensors.emplace_back(*input));
        for (const Tensor& output : outputs) slice.outputs.push_back(&slice.tensors.emplace_back(output));
    }

    void take(StepPlan&& steps) {
        plan_.steps.reserve(steps.steps.size());
        for (Step& step : steps.steps) {
            PlannedStep& planned = plan_.steps.emplace_back();
            if (!step.execution && step.toRecord.empty()) planned.control = controlOf_.find(step.id)->second;
            planned.execution = std::move(step.execution);
            planned.toRecord = std::move(step.toRecord);
            planned.onDevice = step.onDevice;
            planned.scratch = step.scratch;
            planned.calls = std::move(step.calls);
        }
        plan_.placements = std::move(steps.placements);
        plan_.views = placedViews(steps.views);
        plan_.staged = std::move(steps.staged);
        plan_.known = std::move(steps.known);
        plan_.constantUploads = std::move(steps.constantUploads);
        plan_.needs = steps.needs;
        plan_.operands = numbers_.end();
        plan_.valid = true;
    }

    Stage& stage_;
    SessionContext& context_;
    OperandNumbers& numbers_;
    const Request request_;
    std::unique_ptr<StagePlan> result_;
    StagePlan& plan_;
    std::unordered_map<int, Encoding::Ptr> makers_;  // of folded tensors, by number
    std::unordered_map<CommandGraph::Id, ControlNode*> controlOf_;
    std::set<const Tensor*> readByControl_;
};

std::unique_ptr<StagePlan> Stage::makePlan(const Request& request) {
    return Planning(*this, request).make();
}

std::unique_ptr<StagePlan> Stage::inferShapes(const Request& request) {
    Planning planning(*this, request);
    CommandGraph graph([](const Tensor*) { return false; });
    planning.encodeAll(graph);
    return planning.inferred();
}

}  // namespace mnnc
