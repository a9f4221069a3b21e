// Makes programs of a stage. It takes over from the previous program everything that has not changed: encoded operators
// and executions of commands.
#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "model/released_bytes.h"
#include "ops/attention.h"
#include "plan/mask_entries.h"
#include "plan/passes.h"
#include "session/control_node.h"
#include "session/stage.h"
#include "session/value.h"
#include "tensor/host_copy.h"
#include "tensor/tensor_list.h"

namespace mnnc {

class Stage::Planning {
  public:
    Planning(Stage& stage, const Request& request)
        : Planning(stage, request, request.before ? request.before->program() : nullptr) {}
    // before: what encodings are taken over from; may be null.
    Planning(Stage& stage, const Request& request, ProgramPtr before)
        : stage_(stage),
          context_(stage.context_),
          numbers_(stage.tensors_.planning.numbers),
          request_(request),
          before_(std::move(before)) {
        program_.inputs.assign(request.inputs.begin(), request.inputs.end());
        program_.earlier.assign(request.earlier.begin(), request.earlier.end());
    }

    // Determines the shapes of all operators, and turns encodings into commands.
    void encodeAll(CommandGraph& graph) {
        captureGuards();
        for (size_t i = 0; i < stage_.items_.size(); ++i) {
            const Item& item = stage_.items_[i];
            context_.cancel.check();
            Encoding::Ptr& encoding = program_.encodings.emplace_back();
            const Node& node = *item.op->node;
            const std::vector<Operand*> inputs = inputsOf(node);
            if (item.control) {
                controlOf_[graph.appendControl(node.type, node.name, inputs)] = static_cast<int>(i);
                readByControl_.insert(inputs.begin(), inputs.end());
                continue;
            }
            encoding = readingWeightsOf(node.name, [&] {
                return encode(item, {inputs.begin(), inputs.end()}, before_ ? before_->encodings[i] : nullptr);
            });
            encoding->addTensors(program_.tensors);
            if (item.op->folded)
                for (const int id : node.outputs) producers_[id + 1] = encoding;
            encoding->appendTo(graph, program_.tensors);
        }
    }

    ProgramPtr make() {
        CommandGraph graph([this](const Operand* tensor) { return isLiveOut(tensor); });
        encodeAll(graph);
        findOpenInputs(graph);
        PassObserver observer;
        if (context_.settings.recordsPlans)
            observer = [this](const char* pass, const std::string& text) { program_.texts.push_back({pass, text}); };
        const auto temporary = [this](const Operand& like) {
            return program_.tensors.addLike(like, numbers_, stage_.index_);
        };
        const std::vector<bool>& coordinates =
            context_.net->graphs[static_cast<size_t>(stage_.schedule_.graph)].coordinates;
        const auto isCoordinate = [&](const Operand* tensor) {
            const auto id = static_cast<size_t>(tensor->number) - 1;
            return isLiveOut(tensor) && id < coordinates.size() && coordinates[id];
        };
        const auto isFromOutside = [this](const Operand* tensor) { return this->isFromOutside(tensor); };
        const auto isVariable = [this](const Operand* tensor) { return this->isVariable(tensor); };
        runPasses(graph, {context_.wanted(), *context_.cpu, temporary, isCoordinate, isFromOutside, isVariable},
                  observer);

        StepPlan steps(graph);
        StageEncoder constants(context_, stage_.tensors_.planning, OperandNumbers::Kind::Constant, stage_.index_, 0,
                               program_.temporaries, program_.folded);
        StepContext context{context_.cpu,
                            context_.device,
                            context_.cancel,
                            [this](const Operand* tensor) { return isReadLater(tensor); },
                            isFromOutside,
                            temporary,
                            [&](const Command& command) { constants.fold(command); },
                            numbers_,
                            &program_.tensors,
                            stage_.index_,
                            context_.settings.recordsPlans,
                            context_.settings.measuresAlgorithms};
        context.before = before_ ? &before_->executions : nullptr;
        context.made = &program_.executions;
        context.isOpen = [this](const Operand* tensor) { return program_.openInput(tensor->number) != nullptr; };
        runPasses(steps, context, observer);
        take(std::move(steps));
        ++context_.stagePlans;
        context_.counts.executions += program_.executions.created();
        return std::move(result_);
    }

    ProgramPtr inferred() { return std::move(result_); }

  private:
    // Attention over kept keys, and its mask: the number of an input and the entry in that input.
    struct Masked {
        KeptAttentionForm form;
        int input = 0, entry = 0;  // 0: there is no mask

        bool operator==(const Masked& other) const {
            return form.sameSizes(other.form) && input == other.input && entry == other.entry;
        }
    };
    using Masks = std::map<int, Masked>;  // by the number of the attention's output

    // Returns nothing where a mask is no entry of an input. Adds the outputs of the Rasters between input and attention
    // to `through`.
    std::optional<Masks> masksOf(const CommandGraph& graph, std::set<int>& through) const {
        Masks masks;
        for (const CommandGraph::Id id : graph.ids()) {
            const auto* form = graph.isControl(id) ? nullptr : graph.command(id).paramsIf<KeptAttentionForm>();
            if (!form) continue;
            if (!form->masked) {
                masks.emplace(form->tensor, Masked{*form});
                continue;
            }
            const std::optional<MaskRead> read = maskRead(graph, id);
            if (!read || !stage_.tensors_.isOfGraph(read->source->number) || isLiveOut(read->source))
                return std::nullopt;
            masks.emplace(form->tensor, Masked{*form, read->source->number, read->entry});
            for (const CommandGraph::Id raster : read->rasters) {
                const Operand* made = graph.command(raster).outputs[0];
                if (isLiveOut(made)) return std::nullopt;
                through.insert(made->number);
            }
        }
        return masks;
    }

    // Finds the inputs that only kept attention reads, as masks. Their last extents are open if the plan is the same
    // for the smallest and for the largest extent: all other operators become the same commands, and each mask is the
    // same entry.
    void findOpenInputs(const CommandGraph& graph) {
        if (stage_.index_ != 0 || stage_.schedule_.keepers == 0 || !controlOf_.empty()) return;
        std::set<int> through, sources;
        const std::optional<Masks> masks = masksOf(graph, through);
        if (!masks) return;
        for (const auto& [attention, masked] : *masks)
            if (masked.input != 0) sources.insert(masked.input);
        if (sources.empty()) return;
        std::vector<OpenInput> open;
        for (const Tensor& input : program_.inputs) {
            if (sources.count(input.number) == 0) continue;
            const int last = input.shape.rank() - 1;
            const int64_t rows = input.shape[last - 1], others = input.shape.elements(0, last);
            constexpr int64_t kMaxOpenExtent = int64_t{1} << 20;
            int64_t bytes = context_.maxMemoryBytes / 2;
            if (context_.device) bytes = std::min(bytes, context_.device->bindableBytes());
            const int64_t maxExtent = std::min({kMaxOpenExtent, INT32_MAX / others, bytes / 4 / others});
            if (input.shape[last] > maxExtent) return;
            open.push_back({input.number, rows, maxExtent});
        }
        for (const bool large : {false, true}) {
            std::vector<Tensor> inputs = program_.inputs;
            for (Tensor& input : inputs)
                for (const OpenInput& of : open)
                    if (of.number == input.number)
                        input.shape[input.shape.rank() - 1] = large ? of.maxExtent : of.minExtent;
            if (!staysWith(inputs, *masks, through)) return;
        }
        program_.openInputs = std::move(open);
    }

    // Returns whether the operators become the same commands for these inputs. Masks, and values that are computed
    // while planning, may differ.
    bool staysWith(std::span<const Tensor> inputs, const Masks& masks, std::set<int>& through) const {
        Planning other(stage_, {nullptr, inputs, {}}, result_);
        CommandGraph graph([&](const Operand* tensor) { return other.isLiveOut(tensor); });
        try {
            other.encodeAll(graph);
        } catch (const Error& error) {
            if (error.status() == Status::Cancelled || error.status() == Status::OutOfMemory) throw;
            return false;
        }
        if (other.masksOf(graph, through) != masks) return false;
        for (size_t i = 0; i < stage_.items_.size(); ++i) {
            if (other.program_.encodings[i] == program_.encodings[i]) continue;
            const ScheduledOp& op = *stage_.items_[i].op;
            if (op.node->type == OpType::Attention && keepsState(*op.node)) continue;  // compared with the masks
            const auto isInside = [&](int id) {
                return (op.folded || through.count(id + 1) > 0) && !isReadLater(program_.tensors.find(id + 1));
            };
            if (!std::all_of(op.node->outputs.begin(), op.node->outputs.end(), isInside)) return false;
        }
        return true;
    }

    // Returns the plan's own tensor for one of the graph. A tensor that the plan only reads is a copy of the present
    // one.
    Operand* operand(int id) {
        if (Operand* known = program_.tensors.find(id + 1)) return known;
        for (const Tensor& input : request_.inputs)
            if (input.number == id + 1) return program_.tensors.add(Operand(input));
        Operand copy = stage_.tensors_[id];
        copy.aliasOf = nullptr;
        copy.aliasOffset = 0;
        return program_.tensors.add(std::move(copy));
    }
    std::vector<Operand*> inputsOf(const Node& node) {
        std::vector<Operand*> result;
        for (const int id : node.inputs)
            if (id >= 0) result.push_back(operand(id));
        return result;
    }

    bool isReadLater(const Operand* tensor) const {
        return stage_.tensors_.isOfGraph(tensor->number) &&
               stage_.schedule_.lastStage[static_cast<size_t>(tensor->number) - 1] > stage_.index_;
    }
    bool isLiveOut(const Operand* tensor) const { return isReadLater(tensor) || readByControl_.count(tensor) > 0; }
    bool isFromOutside(const Operand* tensor) const {
        if (tensor->hasConstantValue || tensor->usage == Usage::Input) return true;
        return stage_.tensors_.isOfGraph(tensor->number) && !stage_.madeHere_[static_cast<size_t>(tensor->number) - 1];
    }

    bool isVariable(const Operand* tensor) const {
        const std::vector<Variable>& variables = stage_.schedule_.variables;
        return std::any_of(variables.begin(), variables.end(),
                           [&](const Variable& variable) { return variable.constant + 1 == tensor->number; });
    }

    void captureGuards() {
        for (const StageInput& input : stage_.inputs_) {
            ProgramGuard& guard = program_.guards.emplace_back(input);
            const Operand& tensor = stage_.tensors_[input.tensor];
            guard.shape = tensor.shape;
            guard.type = tensor.type;
            guard.format = tensor.format;
            guard.list = tensor.list;
            if (!guard.input.content) continue;
            guard.bytes = hostBytes(tensor, rowMajor(tensor));
            guard.isPacked = tensor.channelBlock != 1;
            guard.content.emplace(context_, guard.bytes, "values that a plan depends on");
            copyToHost(tensor, stage_.tensors_.data(tensor), guard.content->data(), rowMajor(tensor));
        }
    }

    // Shows an operator the values on which the plan depends: replaces such inputs by copies in `shown`, which have the
    // values. Returns for each input the guard that has its values, or -1; an empty list where no input was replaced.
    std::vector<int> showKnown(const Item& item, std::vector<Tensor*>& inputs, std::deque<Tensor>& shown) {
        std::vector<int> guards(inputs.size(), -1);
        size_t operand = 0;
        for (size_t k = 0; k < item.op->node->inputs.size() && k < 32; ++k) {
            const int id = item.op->node->inputs[k];
            if (id < 0) continue;
            const size_t at = operand++;
            if (!((item.op->content >> k) & 1u) || inputs[at]->hasConstantValue) continue;
            for (size_t g = 0; g < program_.guards.size(); ++g) {
                const ProgramGuard& guard = program_.guards[g];
                if (!guard.input.content || guard.input.tensor != id) continue;
                Tensor& known = shown.emplace_back(*inputs[at]);
                known.hasConstantValue = true;
                known.values = guard.content->data();
                inputs[at] = &known;
                guards[at] = static_cast<int>(g);
                break;
            }
        }
        return shown.empty() ? std::vector<int>() : guards;
    }

    // Returns whether the operator reads constants that another stage computed, which may have moved.
    bool readsEarlierConstants(const Item& item) const {
        if (stage_.index_ == 0) return false;
        for (const int id : item.op->node->inputs)
            if (id >= 0 && stage_.schedule_.folded[static_cast<size_t>(id)] &&
                !stage_.foldedHere_[static_cast<size_t>(id)] && stage_.tensors_[id].usage != Usage::Constant)
                return true;
        return false;
    }

    Encoding::Ptr encode(const Item& item, std::vector<Tensor*> inputs, Encoding::Ptr before) {
        const Encoding::Producers producerOf = [this](int number) {
            const auto found = producers_.find(number);
            return found == producers_.end() ? nullptr : found->second;
        };
        std::deque<Tensor> shown;
        const std::vector<int> guards = showKnown(item, inputs, shown);
        if (before && guards.empty() && !readsEarlierConstants(item) && before->fits(*item.op, inputs, producerOf))
            return before;
        std::vector<Tensor> outputs;
        for (const int id : item.op->node->outputs)
            if (id >= 0) outputs.push_back(stage_.tensors_.declared(id));
        ++context_.counts.encoded;
        auto encoding =
            std::make_shared<const Encoding>(context_, stage_.tensors_.planning, *item.op, inputs, outputs, producerOf);
        if (item.op->moving && !guards.empty()) addMovingSlice(*item.op->node, inputs, outputs, guards);
        return encoding;
    }

    void addMovingSlice(const Node& node, const std::vector<Tensor*>& inputs, const std::vector<Tensor>& outputs,
                        const std::vector<int>& guards) {
        MovingSlice& slice = program_.movingSlices.emplace_back();
        slice.node = &node;
        for (const Tensor* input : inputs) slice.inputs.push_back(*input);
        slice.outputs = outputs;
        slice.guards = guards;
    }

    void take(StepPlan&& steps) {
        program_.steps.reserve(steps.steps.size());
        for (Step& step : steps.steps) {
            ProgramStep& planned = program_.steps.emplace_back();
            if (!step.execution && step.toRecord.empty()) planned.control = controlOf_.find(step.id)->second;
            planned.execution = std::move(step.execution);
            planned.toRecord = std::move(step.toRecord);
            planned.onDevice = step.onDevice;
            planned.scratch = step.scratch;
            planned.calls = std::move(step.calls);
        }
        program_.placements = std::move(steps.placements);
        program_.views = placedViews(steps.views);
        program_.staged = std::move(steps.staged);
        for (const StagedTensor& mask : steps.masks)
            for (OpenInput& open : program_.openInputs)
                if (open.number == mask.host->number) open.staging = mask.staging->number;
        program_.known = std::move(steps.known);
        program_.constantUploads = std::move(steps.constantUploads);
        program_.needs = steps.needs;
        program_.operands = numbers_.end();
    }

    Stage& stage_;
    SessionContext& context_;
    OperandNumbers& numbers_;
    const Request request_;
    const ProgramPtr before_;
    std::shared_ptr<Program> result_ = std::make_shared<Program>();
    Program& program_ = *result_;
    std::unordered_map<int, Encoding::Ptr> producers_;     // producers of folded tensors, by number
    std::unordered_map<CommandGraph::Id, int> controlOf_;  // index of the stage's operator
    std::set<const Operand*> readByControl_;
};

// Unlike upToDate(), this also requires equal values where they give only the position of a slice.
bool Stage::fits(const Program& program, const Request& request) const {
    const auto sameInput = [&](const Tensor& a, const Tensor& b) {
        return program.takesShape(a, b.shape) && a.type == b.type && a.format == b.format && sameList(a.list, b.list) &&
               a.quant.sameStep(b.quant) && a.quant.min == b.quant.min && a.quant.max == b.quant.max;
    };
    if (!std::equal(program.inputs.begin(), program.inputs.end(), request.inputs.begin(), request.inputs.end(),
                    sameInput) ||
        !std::equal(program.earlier.begin(), program.earlier.end(), request.earlier.begin(), request.earlier.end()))
        return false;
    std::vector<char> values;
    return std::all_of(program.guards.begin(), program.guards.end(), [&](const ProgramGuard& guard) {
        const Operand& tensor = tensors_[guard.input.tensor];
        if (!guard.sameKind(tensor)) return false;
        if (!guard.input.content || tensor.empty()) return true;
        values.resize(static_cast<size_t>(guard.bytes));
        copyToHost(tensor, tensors_.data(tensor), values.data(), rowMajor(tensor));
        return guard.isPacked == (tensor.channelBlock != 1) &&
               std::memcmp(values.data(), guard.content->data(), values.size()) == 0;
    });
}

ProgramPtr Stage::plan(const Request& request) {
    return Planning(*this, request).make();
}

ProgramPtr Stage::inferShapes(const Request& request) {
    Planning planning(*this, request);
    CommandGraph graph([](const Operand*) { return false; });
    planning.encodeAll(graph);
    return planning.inferred();
}

}  // namespace mnnc
