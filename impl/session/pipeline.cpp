#include "session/pipeline.h"

#include <cstring>

#include "ops/source.h"
#include "session/control_node.h"

namespace mnnc {

Pipeline::Pipeline(SessionContext& context, int graph, const std::vector<int>& outputs)
    : context_(context), schedule_(scheduleGraph(*context.net, graph, outputs)) {
    const NetGraph& net = context.net->graphs[static_cast<size_t>(graph)];
    tensors_.resize(net.source->tensorNames.size());
    for (size_t i = 0; i < tensors_.size(); ++i) tensors_[i].name = net.source->tensorNames[i];
    for (size_t i = 0; i < net.quants.size(); ++i) tensors_[i].quant = net.quants[i];
    inputIds_.assign(net.source->inputs.begin(), net.source->inputs.end());
    for (const Node& node : net.nodes) {
        if (node.type == OpType::Const || node.type == OpType::TrainableParam) {
            if (!node.params) continue;  // not needed, or scheduling would have refused it
            const auto* constant = node.paramsAs<ConstParams>();
            Tensor& tensor = tensors_[static_cast<size_t>(node.outputs[0])];
            tensor.shape = constant->shape;
            tensor.type = constant->type;
            tensor.format = constant->format;
            tensor.usage = Usage::Constant;
            tensor.contentKnown = true;
            // Executions only read constants.
            tensor.data = const_cast<void*>(constant->data);
        } else if (node.type == OpType::Input && node.params) {
            const auto* input = node.paramsAs<InputParams>();
            Tensor& tensor = tensors_[static_cast<size_t>(node.outputs[0])];
            tensor.shape = input->shape;
            tensor.type = input->type;
            tensor.format = input->format;
        }
    }
    for (const int id : inputIds_) {
        tensors_[static_cast<size_t>(id)].usage = Usage::Input;
        inputMemory_.emplace_back(context);
    }
    std::vector<std::vector<Stage::Item>> items(static_cast<size_t>(schedule_.stages));
    for (const ScheduledOp& op : schedule_.ops) {
        Stage::Item item{&op, nullptr};
        if (op.node->type == OpType::If || op.node->type == OpType::While) {
            controls_.push_back(makeControlNode(context, *op.node, tensors_));
            item.control = controls_.back().get();
        }
        items[static_cast<size_t>(op.stage)].push_back(item);
    }
    for (int stage = 0; stage < schedule_.stages; ++stage)
        stages_.push_back(std::make_unique<Stage>(context, tensors_, schedule_, stage,
                                                  std::move(items[static_cast<size_t>(stage)])));
}

Pipeline::~Pipeline() = default;

void Pipeline::describeInput(size_t index, const Shape& shape, DataType type, Format format) {
    Tensor& tensor = input(index);
    if (tensor.shape == shape && tensor.type == type && tensor.format == format && stages_[0]->planned())
        return;
    tensor.shape = shape;
    tensor.type = type;
    tensor.format = format;
    stages_[0]->invalidate();
}

void Pipeline::prepare() {
    if (stages_[0]->planned()) return;
    for (size_t i = 0; i < inputIds_.size(); ++i) {
        Tensor& tensor = input(i);
        tensor.data = inputMemory_[i].reserve(tensor.storageBytes(), "an input");
        // Who does not write an input reads zeros, not what the heap held.
        std::memset(tensor.data, 0, static_cast<size_t>(tensor.storageBytes()));
    }
    for (const auto& stage : stages_) stage->invalidate();
    stages_[0]->plan();
}

void Pipeline::run() {
    for (size_t i = 0; i < stages_.size(); ++i) {
        Stage& stage = *stages_[i];
        if (i > 0 && !stage.upToDate()) {
            for (size_t later = i; later < stages_.size(); ++later) stages_[later]->invalidate();
            stage.plan();
        }
        stage.execute();
    }
}

void Pipeline::appendRecords(std::vector<OpRecord>& records) const {
    for (const auto& stage : stages_) {
        if (stage->planned()) {
            stage->appendRecords(records);
        } else {
            for (const Stage::Item& item : stage->items())
                if (!item.control && !item.op->folded)
                    records.push_back(
                        OpRecord::undecided(item.op->node->name, opTypeName(item.op->node->type)));
        }
    }
    for (const auto& control : controls_) control->appendRecords(records);
}

int64_t Pipeline::arenaBytes() const {
    int64_t bytes = 0;
    for (const auto& stage : stages_) bytes += stage->arenaBytes();
    for (const auto& control : controls_) bytes += control->arenaBytes();
    return bytes;
}

}  // namespace mnnc
