// While in its LoopParam form: reads its table, and takes the shapes of its outputs from there.
#include "ops/region_loop.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "mnn_generated.h"
#include "model/model.h"
#include "ops/control.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

// The commands of all rounds may visit kMaxVisits elements at most, and not more than kFreeVisits plus kVisitsOfElement
// for each element of the loop's tensors: a small file could describe hours of work over small tensors, which no limit
// on memory would refuse.
constexpr int64_t kMaxVisits = int64_t{1} << 40;
constexpr double kFreeVisits = 1 << 26, kVisitsOfElement = 1 << 16;

// Replaces tensors in all commands.
void redirect(LoopParams& params, const std::map<int, int>& replaced) {
    if (replaced.empty()) return;
    const auto follow = [&](int& slot) {
        const auto found = replaced.find(slot);
        if (found != replaced.end()) slot = found->second;
    };
    for (auto* commands : {&params.before, &params.commands})
        for (LoopCommand& command : *commands)
            for (LoopOperand& operand : command.operands) {
                follow(operand.slot);
                follow(operand.unitSlot);
            }
}

class Reader {
  public:
    Reader(const wire::LoopParam& table, const ParseContext& context)
        : table_(table), node_(context.node), graph_(context.graph), source_(context.model.sourceType()) {}

    ParamsPtr read() {
        auto params = std::make_shared<LoopParams>();
        place();
        params->rounds = table_.loopNumber();
        params->mod = modRule(source_);
        if (table_.initCommand())
            for (const wire::RegionCommand* command : *table_.initCommand())
                params->before.push_back(readCommand(*command, true));
        if (table_.commands())
            for (const wire::RegionCommand* command : *table_.commands())
                params->commands.push_back(readCommand(*command, false));
        for (uint32_t i = 0; table_.outputIndexes() && i < table_.outputIndexes()->size(); ++i)
            params->outputs.push_back(outputOf(description(i)));
        replaceWrittenInputs(*params);
        for (const LoopCommand& command : params->commands) visit(*params, command, params->rounds);
        for (const LoopCommand& command : params->before) visit(*params, command, 1);
        return params;
    }

  private:
    const char* name() const { return node_.name.c_str(); }
    LoopParams::Output outputOf(const wire::Blob& blob) const {
        LoopParams::Output output;
        if (blob.dims())
            output.shape = checkedShape({blob.dims()->begin(), blob.dims()->end()}, name(), Status::BadParameter);
        output.type = dataTypeFromWire(static_cast<int32_t>(blob.dataType()), name());
        output.format = static_cast<int>(blob.dataFormat()) == 1 ? Format::NHWC : Format::NCHW;
        return output;
    }
    // Loops of static recurrent nets change an input, the state, in place: it becomes an output, which later operators
    // read under the same name.
    void replaceWrittenInputs(LoopParams& params) const {
        const int inputs = static_cast<int>(node_.inputs.size());
        std::map<int, int> replaced;  // input by output
        for (const auto* commands : {&params.before, &params.commands})
            for (const LoopCommand& command : *commands) {
                const int slot = command.operands[0].slot;
                if (slot >= inputs || replaced.count(slot) > 0) continue;
                const int id = node_.inputs[static_cast<size_t>(slot)];
                const wire::TensorDescribe* describe = graph_ && id >= 0 ? graph_->describe(id) : nullptr;
                if (!describe || !describe->blob())
                    fail(Status::NotSupported, "op '%s' (While): a command writes to an input, which is not supported",
                         name());
                replaced[slot] = inputs + static_cast<int>(params.outputs.size());
                params.outputs.push_back(outputOf(*describe->blob()));
                params.writtenInputs.push_back(static_cast<size_t>(slot));
            }
        redirect(params, replaced);
    }
    // Returns the file's description of output i; a static model may have it among the descriptions of its tensors.
    const wire::Blob& description(size_t i) const {
        if (table_.extraTensorInfos()) return *table_.extraTensorInfos()->Get(static_cast<uint32_t>(i))->blob();
        const wire::TensorDescribe* describe = graph_ ? graph_->describe(node_.outputs[i]) : nullptr;
        if (!describe || !describe->blob())
            fail(Status::BadParameter, "op '%s' (While): output %zu has no description", name(), i);
        return *describe->blob();
    }
    // Counts the elements that a command visits. A command without elements counts as one in each round, because it
    // takes time, too.
    void visit(LoopParams& params, const LoopCommand& command, int64_t rounds) const {
        const int64_t box = checkedMul(checkedMul(command.size[0], command.size[1], name()), command.size[2], name());
        params.visits = checkedAdd(params.visits, checkedMul(std::max<int64_t>(1, box), rounds, name()), name());
        if (params.visits > kMaxVisits)
            fail(Status::LimitExceeded, "op '%s' (While): its commands visit %lld elements, the limit is %lld", name(),
                 asLong(params.visits), asLong(kMaxVisits));
    }

    // Local tensors are the inputs, then the outputs.
    void place() {
        int number = 0;
        for (const auto* slots : {table_.inputIndexes(), table_.outputIndexes()})
            for (uint32_t i = 0; slots && i < slots->size(); ++i, ++number)
                if (!numbers_.emplace(slots->Get(i), number).second)
                    fail(Status::NotSupported, "op '%s' (While): local tensor %d is used for two tensors", name(),
                         slots->Get(i));
    }
    int slotOf(int slot) const {
        const auto found = numbers_.find(slot);
        if (found == numbers_.end())
            fail(Status::NotSupported, "op '%s' (While): local tensor %d is neither input nor output", name(), slot);
        return found->second;
    }

    LoopCommand readCommand(const wire::RegionCommand& from, bool once) const {
        LoopCommand command;
        for (uint32_t v = 0; v < from.indexes()->size(); ++v) {
            LoopOperand operand;
            operand.slot = slotOf(from.indexes()->Get(v));
            command.operands.push_back(operand);
        }
        command.kind = once && !from.op() ? LoopCommand::Kind::Zero : LoopCommand::Kind::Copy;
        if (command.kind == LoopCommand::Kind::Zero) return command;
        if (!once) readOperator(command, *from.op());
        const size_t needed = operandsOf(command);
        if (command.operands.size() < needed)
            fail(Status::BadParameter, "op '%s' (While): a command has %zu operands, %zu are needed", name(),
                 command.operands.size(), needed);
        command.fuse = once ? -1 : currentBinaryCode(from.fuse());
        for (uint32_t axis = 0; axis < 3; ++axis) command.size[axis] = from.size()->Get(axis);
        for (uint32_t v = 0; v < command.operands.size(); ++v) {
            LoopOperand& operand = command.operands[v];
            const wire::View& view = *from.view()->Get(v);
            for (uint32_t axis = 0; axis < 3; ++axis) {
                operand.view.stride[axis] = view.stride()->Get(axis);
                // Places of elements stay far below 2^63.
                if (std::abs(operand.view.stride[axis]) > (int64_t{1} << 60) / std::max<int64_t>(1, command.size[axis]))
                    fail(Status::BadRange, "op '%s' (While): a box of %lld steps of %lld elements is too large", name(),
                         asLong(command.size[axis]), asLong(operand.view.stride[axis]));
            }
            if (once) continue;
            operand.view.offset = view.offset();
            operand.step = from.steps()->Get(v);
            const int unit = from.iterIndexes()->Get(v);
            operand.unitSlot = unit < 0 ? -1 : slotOf(unit);
        }
        return command;
    }

    static size_t operandsOf(const LoopCommand& command) {
        const bool two = command.kind == LoopCommand::Kind::Binary || command.kind == LoopCommand::Kind::MatMul;
        return two ? 3 : 2;
    }

    void readOperator(LoopCommand& command, const wire::Op& op) const {
        switch (static_cast<OpType>(op.type())) {
            case OpType::UnaryOp:
                if (const wire::UnaryOp* unary = op.main_as_UnaryOp()) {
                    command.kind = LoopCommand::Kind::Unary;
                    command.code = static_cast<int>(unary->opType());
                }
                return;
            case OpType::BinaryOp:
                command.kind = LoopCommand::Kind::Binary;
                command.code = static_cast<int>(op.main_as_BinaryOp()->opType());
                if (command.code == kBinaryDiv && source_ == ModelSource::Onnx)
                    fail(Status::NotSupported, "op '%s' (While): a loop of means of two is not supported", name());
                command.code = currentBinaryCode(command.code);
                return;
            case OpType::MatMul:
                command.kind = LoopCommand::Kind::MatMul;
                command.transposeA = op.main_as_MatMul()->transposeA();
                command.transposeB = op.main_as_MatMul()->transposeB();
                return;
            default:
                fail(Status::NotSupported, "op '%s' (While): a loop of %s is not supported", name(),
                     opTypeName(static_cast<OpType>(op.type())) ? opTypeName(static_cast<OpType>(op.type())) : "?");
        }
    }

    const wire::LoopParam& table_;
    const Node& node_;
    const Graph* const graph_;  // static models only
    const ModelSource source_;
    std::map<int, int> numbers_;
};

bool isLoopType(DataType type) {
    return type == DataType::Float32 || type == DataType::Int32 || type == DataType::Int8 || type == DataType::UInt8;
}

// Returns the type of an output that only copies of one type write. It replaces the type in the file, because files
// describe operands of a comparison with the type of its result. Empty where other commands write the output, or where
// the type of a copied output is not known yet.
std::optional<DataType> copiedType(const LoopParams& params, int slot, const std::vector<DataType>& types) {
    std::optional<DataType> type;
    for (const auto* commands : {&params.before, &params.commands})
        for (const LoopCommand& command : *commands) {
            if (command.operands[0].slot != slot || command.kind == LoopCommand::Kind::Zero) continue;
            const auto from = static_cast<size_t>(command.operands.size() > 1 ? command.operands[1].slot : slot);
            if (command.kind != LoopCommand::Kind::Copy || from >= types.size() || (type && *type != types[from]))
                return std::nullopt;
            type = types[from];
        }
    return type;
}

void checkTypes(const LoopCommand& command, const std::vector<DataType>& types, const char* name) {
    const auto typeOf = [&](int slot) { return types[static_cast<size_t>(slot)]; };
    const DataType made = typeOf(command.operands[0].slot);
    bool bytes = false, floats = false;
    for (const LoopOperand& operand : command.operands) {
        const DataType type = typeOf(operand.slot);
        if (!isLoopType(type))
            fail(Status::NotSupported, "op '%s' (While): a loop over %s is not supported", name, dataTypeName(type));
        bytes = bytes || elementBytes(type) == 1;
        floats = floats || type == DataType::Float32;
        // Integers of 8 bits are either extended to 32 bits or kept.
        if (elementBytes(type) != elementBytes(made) && made != DataType::Int32)
            fail(Status::NotSupported, "op '%s' (While): a command makes %s of %s, which is not supported", name,
                 dataTypeName(made), dataTypeName(type));
        if (operand.unitSlot >= 0 && typeOf(operand.unitSlot) != DataType::Int32)
            fail(Status::BadType, "op '%s' (While): indices are %s, int32 is needed", name,
                 dataTypeName(typeOf(operand.unitSlot)));
    }
    if (bytes && floats)
        fail(Status::NotSupported, "op '%s' (While): a command mixes floats and integers of 8 bits", name);
}

}  // namespace

ParamsPtr parseRegionLoop(const wire::LoopParam& table, const ParseContext& context) {
    return Reader(table, context).read();
}

std::vector<size_t> writtenByRegionLoop(const Params& params) {
    const auto* loop = paramsIf<LoopParams>(&params);
    return loop ? loop->writtenInputs : std::vector<size_t>();
}

// The former tensors become further inputs, whose elements are copied to the outputs before the first round. A command
// that reads such a tensor as an input sees the values that earlier rounds wrote.
bool keepRestOfRegionLoop(Node& node, std::span<const EarlierOutput> outputs) {
    const auto* old = node.paramsIf<LoopParams>();
    if (!old) return false;  // the form that runs subgraphs
    auto params = std::make_shared<LoopParams>(*old);
    const int inputs = static_cast<int>(node.inputs.size()), added = static_cast<int>(outputs.size());
    const auto renumber = [&](int& slot) { slot += slot >= inputs ? added : 0; };
    for (auto* commands : {&params->before, &params->commands})
        for (LoopCommand& command : *commands)
            for (LoopOperand& operand : command.operands) {
                renumber(operand.slot);
                renumber(operand.unitSlot);
            }
    std::map<int, int> outputOf;  // by former tensor
    for (const EarlierOutput& earlier : outputs)
        outputOf[earlier.tensor] = inputs + added + static_cast<int>(earlier.output);
    std::map<int, int> replaced;  // input by output
    for (int input = 0; input < inputs; ++input)
        if (const auto found = outputOf.find(node.inputs[static_cast<size_t>(input)]); found != outputOf.end())
            replaced[input] = found->second;
    redirect(*params, replaced);
    std::vector<LoopCommand> copies(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
        LoopCommand& copy = copies[i];
        copy.size[2] = params->outputs[outputs[i].output].shape.elements();
        copy.operands.resize(2);
        copy.operands[0].slot = inputs + added + static_cast<int>(outputs[i].output);
        copy.operands[1].slot = inputs + static_cast<int>(i);
        node.inputs.push_back(outputs[i].tensor);
    }
    params->before.insert(params->before.begin(), copies.begin(), copies.end());
    node.params = std::move(params);
    return true;
}

void shapeRegionLoop(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<LoopParams>();
    std::vector<DataType> types;
    for (const Tensor* input : context.inputs) types.push_back(input->type);
    for (size_t i = 0; i < params.outputs.size(); ++i)
        types.push_back(copiedType(params, static_cast<int>(types.size()), types).value_or(params.outputs[i].type));
    for (const auto* commands : {&params.before, &params.commands})
        for (const LoopCommand& command : *commands) checkTypes(command, types, context.name());
    double elements = 0;
    for (const Tensor* input : context.inputs) elements += static_cast<double>(input->elements());
    for (const LoopParams::Output& output : params.outputs) elements += static_cast<double>(output.shape.elements());
    if (static_cast<double>(params.visits) > kFreeVisits + kVisitsOfElement * elements)
        fail(Status::LimitExceeded, "op '%s' (While): its commands visit %lld elements of tensors that have %.0f",
             context.name(), asLong(params.visits), elements);
    for (size_t i = 0; i < context.outputs.size(); ++i) {
        const LoopParams::Output& output = params.outputs[i];
        context.set(static_cast<int>(i), output.shape, types[context.inputs.size() + i], output.format);
    }
}

double regionLoopFlops(const ShapeContext& context) {
    return static_cast<double>(context.node.paramsAs<LoopParams>().visits);
}

}  // namespace mnnc
