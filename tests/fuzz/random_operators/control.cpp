// Subgraphs and loops, regions, sequences of tensors.
#include "random_operators/draft.h"

namespace fuzz {

using enum wire::OpType;

namespace {

std::unique_ptr<wire::OpT> node(wire::OpType type, std::vector<int> inputs, std::vector<int> outputs) {
    auto op = std::make_unique<wire::OpT>();
    op->type = type;
    op->name = "node" + std::to_string(outputs[0]);
    op->inputIndexes = std::move(inputs);
    op->outputIndexes = std::move(outputs);
    return op;
}

// A graph of `inputs` formal inputs named <name>0, <name>1... Each output is the sum, difference, product or comparison
// of two of them or of a constant; the outputs are the tensors from inputs + 1 on.
std::unique_ptr<wire::SubGraphProtoT> graph(Draft& d, const std::string& name, int inputs, int outputs,
                                            wire::DataType type) {
    auto made = std::make_unique<wire::SubGraphProtoT>();
    made->name = name;
    for (int i = 0; i < inputs; ++i) {
        made->nodes.push_back(node(Input, {}, {i}));
        wire::InputT input;
        input.dims = {1};
        input.dtype = type;
        input.dformat = wire::MNN_DATA_FORMAT::NCHW;
        made->nodes.back()->main.Set(std::move(input));
        made->inputs.push_back(i);
    }
    made->nodes.push_back(node(Const, {}, {inputs}));
    wire::BlobT one;
    one.dataType = type;
    one.int32s = {d.number(-1, 2)};
    one.float32s = {1};
    (type == DT_INT32 ? one.float32s.clear() : one.int32s.clear());
    made->nodes.back()->main.Set(std::move(one));
    for (int i = 0; i < outputs; ++i) {
        const int left = d.number(0, inputs), made_ = inputs + 1 + i;
        made->nodes.push_back(node(BinaryOp, {i < inputs ? i : left, d.number(0, inputs)}, {made_}));
        wire::BinaryOpT binary;
        static constexpr wire::BinaryOpOperation kKinds[] = {wire::BinaryOpOperation::ADD, wire::BinaryOpOperation::MUL,
                                                             wire::BinaryOpOperation::LESS,
                                                             wire::BinaryOpOperation::SUB};
        binary.opType = d.random.pick(kKinds);
        binary.T = type;
        made->nodes.back()->main.Set(std::move(binary));
        made->outputs.push_back(made_);
    }
    for (int i = 0; i <= inputs + outputs; ++i) made->tensors.push_back(name + std::to_string(i));
    return made;
}

std::unique_ptr<wire::StringVecT> names(std::vector<std::string> list) {
    auto made = std::make_unique<wire::StringVecT>();
    made->data = std::move(list);
    return made;
}

void settleIf(Draft& d, wire::IfParamT& table) {
    const int values = d.number(1, 2), outputs = d.number(1, 2);
    const Dims dims = d.shape(0, 3);
    d.inputs = {d.scalar(d.number(0, 1))};
    for (int i = 0; i < values; ++i) d.inputs.push_back(d.floats(dims));
    d.outputs = static_cast<size_t>(outputs);
    d.bodies.push_back(graph(d, "then", values, outputs, DT_FLOAT));
    d.bodies.push_back(graph(d, "else", values, outputs, DT_FLOAT));
    table.then_graph = "then";
    table.else_graph = "else";
    table.aliases_inputs.clear();
    table.aliases_outputs.clear();
    table.aliases_inputs.push_back(names({}));
    for (int i = 0; i < values; ++i)
        table.aliases_inputs.push_back(names({"then" + std::to_string(i), "else" + std::to_string(i)}));
    if (d.random.oneIn(2))
        for (int i = values + 1; i <= values + outputs; ++i)
            table.aliases_outputs.push_back(names({"then" + std::to_string(i), "else" + std::to_string(i)}));
}

void settleWhile(Draft& d, wire::WhileParamT& table) {
    table = {};
    table.body_graph = "body";
    if (d.random.oneIn(2)) {  // by count: number of iterations, condition, values
        const int values = d.number(0, 2), stacks = d.number(values ? 0 : 1, 1);
        d.inputs = {d.scalar(d.number(-1, 5)), d.scalar(1)};
        for (int i = 0; i < values; ++i) d.inputs.push_back(d.ints(d.shape(0, 1)));
        d.outputs = static_cast<size_t>(values + stacks);
        d.bodies.push_back(graph(d, "body", 2 + values, 1 + values + stacks, DT_INT32));
        return;
    }
    const int values = d.number(1, 3);  // by a graph for the condition
    table.cond_graph = "goes";
    d.bodies.push_back(graph(d, "goes", values, 1, DT_INT32));
    d.bodies.push_back(graph(d, "body", values, values, DT_INT32));
    d.inputs.clear();
    for (int i = 0; i < values; ++i) {
        d.inputs.push_back(d.scalar(d.number(-3, 3)));
        const std::string at = std::to_string(i), next = std::to_string(values + 1 + i);
        table.aliases_inputs.push_back(names({"goes" + at, "body" + at}));
        table.aliases_updates.push_back(names({"body" + next, "goes" + at}));
        table.aliases_updates.push_back(names({"body" + next, "body" + at}));
    }
    table.aliases_outputs = {"body0"};
    d.outputs = 1;
}

std::unique_ptr<wire::ViewT> view(Draft& d) {
    auto made = std::make_unique<wire::ViewT>();
    made->offset = d.random.oneIn(3) ? d.number(-2, 9) : 0;
    made->stride = {d.number(0, 6), d.number(0, 4), d.random.oneIn(3) ? d.number(-1, 2) : 1};
    return made;
}

// out(4, 6) from a (and b), a row or a box in each iteration.
void settleLoop(Draft& d, wire::LoopParamT& table) {
    table = {};
    const int inputs = d.number(1, 2);
    for (int i = 0; i < inputs; ++i) {
        d.inputs.resize(static_cast<size_t>(i));
        d.inputs.push_back(d.floats({d.number(1, 4), 6}));
        table.inputIndexes.push_back(i);
    }
    d.inputs.push_back(d.ints({d.number(1, 5)}));
    table.inputIndexes.push_back(inputs);
    table.outputIndexes = {inputs + 1};
    table.tensorNumber = inputs + 2;
    table.loopNumber = d.number(0, 5);
    table.parallel = d.random.oneIn(2);
    auto info = std::make_unique<wire::TensorDescribeT>();
    info->blob = std::make_unique<wire::BlobT>();
    info->blob->dims = {4, 6};
    table.extraTensorInfos.push_back(std::move(info));
    d.outputs = 1;
    for (int k = d.number(1, 2); k > 0; --k) {
        auto command = std::make_unique<wire::RegionCommandT>();
        const bool binary = inputs == 2 && d.random.oneIn(2);
        command->op = node(binary ? BinaryOp : UnaryOp, {}, {0});
        command->op->outputIndexes.clear();
        if (binary)
            command->op->main.Set(wire::BinaryOpT());
        else if (d.random.oneIn(2))
            command->op->main.Set(wire::UnaryOpT());
        command->indexes = {inputs + 1, 0};
        if (binary) command->indexes.push_back(1);
        for (size_t i = 0; i < command->indexes.size(); ++i) {
            command->view.push_back(view(d));
            command->steps.push_back(d.number(-1, 6));
            command->iterIndexes.push_back(d.random.oneIn(3) ? inputs : -1);
        }
        command->size = {d.number(1, 2), d.number(1, 3), d.number(1, 6)};
        command->fuse = d.random.oneIn(4) ? d.number(-3, 9) : -1;
        (d.random.oneIn(4) ? table.initCommand : table.commands).push_back(std::move(command));
    }
}

void settleRaster(Draft& d) {
    wire::ExtraT extra;
    const auto attribute = [&](const char* key) -> wire::AttributeT& {
        extra.attr.push_back(std::make_unique<wire::AttributeT>());
        extra.attr.back()->key = key;
        extra.attr.back()->list = std::make_unique<wire::ListValueT>();
        return *extra.attr.back();
    };
    const Dims dims = d.shape(1, 4);
    d.inputs.assign(static_cast<size_t>(d.number(1, 3)), d.floats(dims));
    auto& regions = attribute("region").list->i;
    for (size_t i = 0; i < d.inputs.size(); ++i) {
        const auto from = view(d), to = view(d);
        for (const wire::ViewT* v : {from.get(), to.get()}) {
            regions.push_back(d.random.oneIn(3) ? v->offset : 0);
            for (int axis = 0; axis < 3; ++axis) regions.push_back(axis == 2 ? v->stride[2] : 1);
        }
        for (int axis = 0; axis < 3; ++axis) regions.push_back(d.number(d.random.oneIn(9) ? 0 : 1, 2));
    }
    attribute("shape").list->i = {d.number(2, 4), 9};
    attribute("code").i = 2;
    attribute("bits").i = 32;
    attribute("format").i = 0;
    d.op.main.Set(std::move(extra));
}

void settleSequence(Draft& d, wire::TensorArrayT& table) {
    Operand flow;
    flow.sequence = true;
    const Operand at = d.scalar(d.number(-1, 2));
    const Operand value = d.floats({d.number(1, 2), 2});
    table.axis = 0;
    table.T = DT_FLOAT;
    table.new_axis = false;
    table.keepdims = true;
    table.element_shape.clear();
    switch (d.op.type) {
        case TensorArray:
            d.inputs = {d.scalar(d.number(0, 4))};
            d.outputs = 2;
            if (d.random.oneIn(2)) table.element_shape = {2, 3};
            return;
        case TensorArraySize:
        case TensorArrayConcat:
            d.inputs = {flow, flow};
            break;
        case TensorArrayRead:
        case TensorArrayErase:
            d.inputs = {flow, at, flow};
            break;
        case TensorArrayWrite:
        case TensorArrayInsert:
            d.inputs = {flow, at, value, flow};
            break;
        case TensorArrayGather:
            d.inputs = {flow, d.list({0, d.number(0, 2)}), flow};
            break;
        case TensorArrayScatter:
            d.inputs = {flow, d.list({1, 0}), d.floats({2, 3}), flow};
            break;
        default:
            d.inputs = {flow, d.floats({4, 2}), d.list({1, 3}), flow};
    }
    d.outputs = 1;
}

}  // namespace

void settleControl(Draft& d) {
    switch (d.op.type) {
        case If:
            if (auto* table = d.op.main.AsIfParam()) settleIf(d, *table);
            break;
        case While:
            if (auto* loop = d.op.main.AsLoopParam()) settleLoop(d, *loop);
            if (auto* table = d.op.main.AsWhileParam()) settleWhile(d, *table);
            break;
        case Raster:
            settleRaster(d);
            break;
        default:
            if (auto* table = d.op.main.AsTensorArray()) settleSequence(d, *table);
    }
}

}  // namespace fuzz
