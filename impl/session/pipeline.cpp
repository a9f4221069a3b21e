// Builds the stages of a graph, plans those that need it and runs them in order.
#include "session/pipeline.h"

#include <cstring>

#include "ops/control.h"
#include "ops/source.h"
#include "session/control_node.h"
#include "tensor/tensor_list.h"

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
            const auto* constant = &node.paramsAs<ConstParams>();
            Tensor& tensor = tensors_[static_cast<size_t>(node.outputs[0])];
            tensor.shape = constant->shape;
            tensor.type = constant->type;
            tensor.format = constant->format;
            tensor.usage = Usage::Constant;
            tensor.hasConstantValue = true;
            // Executions only read constants.
            tensor.data = const_cast<void*>(constant->data);
        } else if (node.type == OpType::Input && node.params) {
            const auto* input = &node.paramsAs<InputParams>();
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
        if (runsSubgraphs(*op.node)) {
            controls_.push_back(makeControlNode(context, *op.node, tensors_));
            item.control = controls_.back().get();
        }
        items[static_cast<size_t>(op.stage)].push_back(item);
    }
    loadConstants(net);
    for (int stage = 0; stage < schedule_.stages; ++stage)
        stages_.push_back(std::make_unique<Stage>(context, tensors_, schedule_, stage,
                                                  std::move(items[static_cast<size_t>(stage)])));
}

Pipeline::~Pipeline() = default;

// Large constants that stayed in the file come into memory here, but for those that only executions read which load
// them themselves: prepared and as they are they would be in memory twice.
void Pipeline::loadConstants(const NetGraph& net) {
    std::vector<char> read(tensors_.size(), 0);
    for (const ScheduledOp& op : schedule_.ops) {
        const uint32_t own = context_.wanted().loadsInputs(op.node->type);
        for (size_t k = 0; k < op.node->inputs.size(); ++k)
            if (op.node->inputs[k] >= 0 && !(k < 32 && ((own >> k) & 1u)))
                read[static_cast<size_t>(op.node->inputs[k])] = 1;
    }
    for (const int id : schedule_.outputs) read[static_cast<size_t>(id)] = 1;
    for (const Node& node : net.nodes) {
        if ((node.type != OpType::Const && node.type != OpType::TrainableParam) || !node.params) continue;
        const auto* constant = &node.paramsAs<ConstParams>();
        if (!constant->leftInFile()) continue;
        Tensor& tensor = tensors_[static_cast<size_t>(node.outputs[0])];
        tensor.stored = constant;
        if (!read[static_cast<size_t>(node.outputs[0])]) continue;
        constants_.push_back(constant->load());
        tensor.data = const_cast<void*>(constants_.back().get());
    }
}

void Pipeline::describeInput(size_t index, const Shape& shape, DataType type, Format format,
                             const std::shared_ptr<const TensorList>& list) {
    Tensor& tensor = input(index);
    if (tensor.shape == shape && tensor.type == type && tensor.format == format &&
        sameList(tensor.list, list) && stages_[0]->planned())
        return;
    tensor.list = list;
    tensor.shape = shape;
    tensor.type = type;
    tensor.format = format;
    stages_[0]->invalidate();
}

void Pipeline::prepare() {
    if (stages_[0]->planned()) return;
    // Memory that has to grow is replaced when the plan stands.
    struct Grown {
        size_t input;
        BudgetedBuffer memory;
    };
    std::vector<Grown> grown;
    std::vector<int64_t> sizes;
    try {
        for (size_t i = 0; i < inputIds_.size(); ++i) {
            Tensor& tensor = input(i);
            const int64_t bytes = sizes.emplace_back(tensor.storageBytes());
            const bool fits = bytes <= inputMemory_[i].size() && inputMemory_[i].data();
            BudgetedBuffer& buffer =
                fits ? inputMemory_[i] : grown.emplace_back(Grown{i, BudgetedBuffer(context_)}).memory;
            tensor.data = buffer.reserve(bytes, "an input");
        }
        stages_[0]->plan();
    } catch (...) {
        for (size_t i = 0; i < inputIds_.size(); ++i)
            if (plannedInputs_.empty())
                input(i).data = nullptr;
            else
                restore(input(i), plannedInputs_[i]);
        if (plannedInputs_.size() == inputIds_.size()) stages_[0]->revalidate();
        throw;
    }
    plannedInputs_.clear();
    for (Grown& one : grown) inputMemory_[one.input].swap(one.memory);
    // Who does not write an input reads zeros, not what the heap held. Of a damaged graph an operator may make a tensor
    // that is an input, too: only the inputs' own memory is looked at.
    for (size_t i = 0; i < inputIds_.size(); ++i)
        std::memset(inputMemory_[i].data(), 0, static_cast<size_t>(sizes[i]));
    for (size_t later = 1; later < stages_.size(); ++later) stages_[later]->invalidate();
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < inputIds_.size(); ++i) inputs.push_back(input(i));
    plannedInputs_ = std::move(inputs);
}

void Pipeline::run() {
    for (size_t i = 0; i < stages_.size(); ++i) {
        Stage& stage = *stages_[i];
        if (i > 0 && !stage.upToDate()) {
            stage.plan();
            for (size_t later = i + 1; later < stages_.size(); ++later) stages_[later]->invalidate();
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
