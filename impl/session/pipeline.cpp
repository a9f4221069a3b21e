// Builds the stages of a graph and runs them in order.
#include "session/pipeline.h"

#include <algorithm>

#include "ops/control.h"
#include "ops/source.h"
#include "session/control_node.h"
#include "session/planned_graph.h"

namespace mnnc {

namespace {

std::shared_ptr<SharedPrograms> sharedPrograms(SessionContext& context, GraphCut cut, const GraphSchedule& schedule) {
    const size_t tensors =
        context.net->graphs[static_cast<size_t>(cut.graph)].source->tensorNames.size() + schedule.furtherLike.size();
    return context.programs ? context.programs->find(context.settings, cut, tensors)
                            : std::make_shared<SharedPrograms>(context.settings, std::move(cut), tensors);
}

}  // namespace

Pipeline::Pipeline(SessionContext& context, int graph, const std::vector<int>& inputs, const std::vector<int>& outputs,
                   bool updates)
    : context_(context),
      schedule_(scheduleGraph(*context.net, graph, inputs, outputs, {!context.asksHost(), updates})),
      shared_(sharedPrograms(context, {graph, inputs, outputs, updates}, schedule_)),
      tensors_(context.net->graphs[static_cast<size_t>(graph)], schedule_, shared_->numbers),
      inputIds_(inputs) {
    const NetGraph& net = context.net->graphs[static_cast<size_t>(graph)];
    for (const int id : schedule_.outputs) tensors_.own(id);  // outputs have names even before the first plan
    for (const Node& node : net.nodes) {
        if (isConstantNode(node)) {
            if (!node.params) continue;  // the operator is not needed, or scheduling would have refused it
            const auto* constant = &node.paramsAs<ConstParams>();
            Operand& tensor = tensors_.own(node.outputs[0]);
            tensor.shape = constant->shape;
            tensor.type = constant->type;
            tensor.format = constant->format;
            tensor.usage = Usage::Constant;
            tensor.hasConstantValue = true;
            tensor.content = node.params;
            tensor.values = constant->data;
        } else if (node.type == OpType::Input && node.params) {
            const auto* input = &node.paramsAs<InputParams>();
            Operand& tensor = tensors_.own(node.outputs[0]);
            tensor.shape = input->shape;
            tensor.type = input->type;
            tensor.format = input->format;
        }
    }
    for (const int id : inputIds_) {
        tensors_.own(id).usage = Usage::Input;
        inputMemory_.emplace_back(context);
        const Operand& tensor = tensors_.own(id);
        wanted_.push_back({tensor.shape, tensor.type, tensor.format, tensor.list});
    }
    std::vector<std::vector<Stage::Item>> items(static_cast<size_t>(schedule_.stages));
    for (const ScheduledOp& op : schedule_.ops) {
        Stage::Item item{&op, nullptr};
        if (runsSubgraphs(*op.node)) {
            controls_.push_back(makeControlNode(context, *op.node, tensors_));
            item.control = controls_.back().get();
        }
        items[static_cast<size_t>(op.stage)].push_back(item);
    }
    loadConstants(net);
    makeVariables();
    for (int stage = 0; stage < schedule_.stages; ++stage)
        stages_.push_back(
            std::make_unique<Stage>(context, tensors_, schedule_, stage, std::move(items[static_cast<size_t>(stage)])));
}

Pipeline::~Pipeline() = default;

// Loads large constants that stayed in the file, except those whose only readers are executions that load them: such a
// constant would be in memory twice, prepared and unprepared.
void Pipeline::loadConstants(const NetGraph& net) {
    std::vector<char> read(tensors_.count(), 0);
    for (const ScheduledOp& op : schedule_.ops) {
        // Which operands a backend of the host reads is known only when plans are made.
        const uint32_t own = context_.asksHost() ? 0 : context_.wanted().loadsInputs(op.node->type);
        for (size_t k = 0; k < op.node->inputs.size(); ++k)
            if (op.node->inputs[k] >= 0 && !(k < 32 && ((own >> k) & 1u)))
                read[static_cast<size_t>(op.node->inputs[k])] = 1;
    }
    for (const int id : schedule_.outputs) read[static_cast<size_t>(id)] = 1;
    for (const Node& node : net.nodes) {
        if (!isConstantNode(node) || !node.params) continue;
        const auto* constant = &node.paramsAs<ConstParams>();
        if (!constant->leftInFile()) continue;
        Operand& tensor = tensors_.own(node.outputs[0]);
        tensor.stored = constant;
        if (!read[static_cast<size_t>(node.outputs[0])]) continue;
        tensor.values = shared_->content(tensor.number, *constant);
    }
}

void Pipeline::run(PlanObserver* observer) {
    tensors_.frame.usePool(*context_.pool);
    for (size_t i = 0; i < stages_.size(); ++i) {
        Stage& stage = *stages_[i];
        if (i > 0 && !stage.upToDate()) planLater(i, observer);
        stage.execute();
    }
    tensors_.frame.endRun();
    saveVariables();
}

void Pipeline::appendRecords(std::vector<OpRecord>& records) const {
    for (const auto& stage : stages_) {
        if (stage->planned()) {
            stage->appendRecords(records);
        } else {
            for (const Stage::Item& item : stage->items())
                if (!item.control && !item.op->folded)
                    records.push_back(OpRecord::undecided(item.op->node->name, opTypeName(item.op->node->type),
                                                          item.op->node->number));
        }
    }
    for (const auto& control : controls_) control->appendRecords(records);
}

bool Pipeline::appendKeptRecords(const std::vector<InputDescription>& inputs, std::vector<OpRecord>& records) const {
    const auto found =
        std::find_if(kept_.begin(), kept_.end(), [&](const KeptPlan& kept) { return kept.inputs == inputs; });
    if (found == kept_.end() || !singleStage()) return false;
    found->stages[0]->program()->appendRecords(records);
    return true;
}

void Pipeline::appendGraphs(std::vector<PlannedGraph>& graphs) const {
    const size_t place = graphs.size();
    graphs.emplace_back().graph = schedule_.graph;
    for (const auto& stage : stages_)
        if (stage->planned()) stage->describe(graphs[place]);
    for (const auto& control : controls_)
        for (const Pipeline* body : control->bodies())
            if (body) body->appendGraphs(graphs);
}

int64_t Pipeline::arenaBytes() const {
    int64_t bytes = 0;
    for (const auto& stage : stages_) bytes += stage->arenaBytes();
    for (const auto& control : controls_) bytes += control->arenaBytes();
    return bytes;
}

}  // namespace mnnc
