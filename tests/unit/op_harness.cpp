// The definitions of op_harness.h.
#include "op_harness.h"

#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/ops/table.h"

namespace mnnc::test {

namespace {

// The parsers of these tests do not read the model.
alignas(64) char noModel[4096];

// Converts row-major <-> packed for any 4-byte element; padding lanes get NaN, so that a kernel that uses them is
// detected.
std::vector<float> toPacked(const Tensor& t, const float* plain, int channelBlock) {
    const int64_t c = t.shape.at(1), plane = t.plane(), blocks = ceilDiv(c, channelBlock);
    std::vector<float> out(static_cast<size_t>(t.batch() * blocks * plane * channelBlock),
                           std::numeric_limits<float>::quiet_NaN());
    for (int64_t n = 0; n < t.batch(); ++n)
        for (int64_t i = 0; i < c; ++i)
            for (int64_t p = 0; p < plane; ++p)
                std::memcpy(&out[static_cast<size_t>(((n * blocks + i / channelBlock) * plane + p) * channelBlock +
                                                     i % channelBlock)],
                            &plain[(n * c + i) * plane + p], 4);
    return out;
}

void fromPacked(const Tensor& t, const float* packed, float* plain, int channelBlock) {
    const int64_t c = t.shape.at(1), plane = t.plane(), blocks = ceilDiv(c, channelBlock);
    for (int64_t n = 0; n < t.batch(); ++n)
        for (int64_t i = 0; i < c; ++i)
            for (int64_t p = 0; p < plane; ++p)
                std::memcpy(&plain[(n * c + i) * plane + p],
                            &packed[((n * blocks + i / channelBlock) * plane + p) * channelBlock + i % channelBlock],
                            4);
}

void copyElements(const Tensor& t, void* to, const void* from) {
    if (t.elements() > 0) std::memcpy(to, from, static_cast<size_t>(t.bytes()));
}

int64_t position(const View& side, int64_t i, int64_t j, int64_t k) {
    return side.offset + i * side.stride[0] + j * side.stride[1] + k * side.stride[2];
}

}  // namespace

Value iota(Shape shape, float from, Format format) {
    Value v{shape, {}, format, {}};
    for (int64_t i = 0; i < shape.elements(); ++i) v.data.push_back(from + static_cast<float>(i));
    return v;
}

Value intIota(Shape shape, Format format) {
    Value v{shape, {}, format, {}};
    for (int64_t i = 0; i < shape.elements(); ++i) v.ints.push_back(static_cast<int32_t>(i));
    return v;
}

Value floats(Shape shape, std::vector<float> values) {
    return {shape, std::move(values), Format::NCHW, {}};
}

Value ints(Shape shape, Ints values) {
    return {shape, {}, Format::NCHW, std::move(values)};
}

Value ints(Ints values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    return ints(shape, std::move(values));
}

Value scalar(int32_t value) {
    return ints(Shape{}, {value});
}

OpRun::OpRun(OpType type, ParamsPtr params, const char* isa, int threads)
    : kernels_(selectKernels(isa)), threads_(threads), parses_(false) {
    node_.type = type;
    node_.def = findOpDef(type);
    node_.name = "tested";
    node_.params = std::move(params);
}

OpRun::OpRun(OpType type, Table table) : OpRun(type, ParamsPtr()) {
    table_ = std::move(table);
    parses_ = true;
}

std::vector<Value> OpRun::operator()(const std::vector<Value>& inputs, int outputs) {
    for (size_t i = 0; i < inputs.size(); ++i) node_.inputs.push_back(static_cast<int>(i));
    for (int i = 0; i < outputs; ++i) node_.outputs.push_back(100 + i);
    parse();
    const uint32_t content = node_.def->valueInputs ? node_.def->valueInputs(node_) : 0;
    std::vector<Tensor*> in, out;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Value& v = inputs[i];
        Tensor* t = make(v.shape, v.ints.empty() ? DataType::Float32 : DataType::Int32, v.format);
        constant(t, v.ints.empty() ? static_cast<const void*>(v.data.data()) : v.ints.data());
        t->hasConstantValue = !parses_ || (content >> i & 1u) != 0;
        if (!t->hasConstantValue) t->values = nullptr;
        in.push_back(t);
    }
    bool empty = true;
    for (int i = 0; i < outputs; ++i) out.push_back(make({}, DataType::Float32, Format::NCHW));
    OpContext context{{node_, in, out}, *this};
    node_.def->shape ? node_.def->shape(context) : copyShapes(context);
    for (const Tensor* t : out) empty = empty && t->empty();
    if (!empty && node_.def->geometry) node_.def->geometry(context);
    if (!empty && !node_.def->geometry) emit(context.command());
    for (ValueCommand& command : commands_) execute(command);
    std::vector<Value> result;
    for (const Tensor* t : out) {
        Value v{t->shape, {}, t->format, {}};
        if (t->type == DataType::Int32)
            v.ints.assign(data<int32_t>(*t), data<int32_t>(*t) + t->elements());
        else if (t->type == DataType::Int8)
            v.ints.assign(data<int8_t>(*t), data<int8_t>(*t) + t->elements());
        else
            v.data.assign(data<float>(*t), data<float>(*t) + t->elements());
        result.push_back(std::move(v));
    }
    return result;
}

void OpRun::parse() {
    if (!parses_ || !node_.def->parse) return;
    builder_.Clear();
    std::pair<wire::OpParameter, flatbuffers::Offset<void>> main{wire::OpParameter::NONE, 0};
    if (table_) main = table_(builder_);
    wire::OpBuilder op(builder_);
    if (table_) {
        op.add_main_type(main.first);
        op.add_main(main.second);
    }
    op.add_type(static_cast<wire::OpType>(node_.type));
    builder_.Finish(op.Finish());
    const auto* wireOp = flatbuffers::GetRoot<wire::Op>(builder_.GetBufferPointer());
    node_.params = node_.def->parse(*wireOp, {reinterpret_cast<const Model&>(noModel), node_});
}

Tensor* OpRun::make(const Shape& shape, DataType type, Format format) {
    Tensor& t = tensors_.emplace_back();
    t.shape = shape;
    t.type = type;
    t.format = format;
    t.number = static_cast<int>(tensors_.size());
    frame_.grow(t.number + 1);
    return &t;
}

void* OpRun::allocate(const Tensor& t) {
    memory_.emplace_back(t.bytes());
    frame_.place(t.number, memory_.back().data());
    return memory_.back().data();
}

Tensor* OpRun::temporary(const Shape& shape, DataType type, Format format) {
    return make(shape, type, format);
}

void OpRun::constant(Tensor* output, const void* bytes) {
    void* values = allocate(*output);
    output->hasConstantValue = true;
    copyElements(*output, values, bytes);
    output->values = values;
}

void OpRun::emit(ValueCommand command) {
    commands_.push_back(std::move(command));
}

// Copies Rasters element by element.
void OpRun::copyRegions(const ValueCommand& command) {
    const Tensor& out = *command.outputs[0];
    if (out.elements() > 0) std::memset(data<void>(out), 0, static_cast<size_t>(out.bytes()));
    for (const Region& r : command.regions)
        for (int64_t i = 0; i < r.size[0]; ++i)
            for (int64_t j = 0; j < r.size[1]; ++j)
                for (int64_t k = 0; k < r.size[2]; ++k) {
                    const Tensor& in = *command.inputs.at(static_cast<size_t>(r.input));
                    const int64_t to = position(r.dst, i, j, k), from = position(r.src, i, j, k);
                    if (to < 0 || to >= out.elements() || from < 0 || from >= in.elements())
                        throw std::runtime_error("a region leaves its tensors");
                    data<int32_t>(out)[to] = data<int32_t>(in)[from];
                }
}

void OpRun::execute(ValueCommand& command) {
    for (Tensor* t : command.outputs) allocate(*t);
    if (command.type == OpType::Raster) return copyRegions(command);
    const cpu::CpuOp* op = cpu::findCpuOp(command.type);
    if (!op) throw std::runtime_error("no execution");
    BackendConfig config;
    config.threads = threads_;
    WeightStore weights;
    std::shared_ptr<ThreadPool> pool = std::make_shared<InlinePool>();
    if (threads_ > 1) pool = std::make_shared<ForkJoinPool>(threads_);
    cpu::CpuBackend backend(kernels_, pool, config, weights);
    std::deque<Operand> operands;
    const Command unstored =
        mapOperands<Operand>(command, [&](const Tensor* tensor) { return &operands.emplace_back(*tensor); });
    const StorageChoice choice = op->storage ? op->storage(backend, unstored) : StorageChoice{};
    // Copies of the tensors in the storage that the execution requires.
    std::deque<Operand> stored;
    std::deque<AlignedBuffer> buffers;
    const int scratchNumber = static_cast<int>(command.inputs.size() + command.outputs.size()) + 1;
    Frame frame(scratchNumber + 1);
    frame.usePool(*pool);
    Command local = unstored;
    const auto store = [&](const Tensor* t, int channelBlock) {
        Operand& s = stored.emplace_back(*t);
        s.channelBlock = channelBlock;
        s.hasConstantValue = s.hasConstantValue && channelBlock == 1;
        buffers.emplace_back(s.storageBytes());
        s.number = static_cast<int>(stored.size());
        s.values = s.hasConstantValue ? buffers.back().data() : nullptr;
        frame.place(s.number, buffers.back().data());
        return &s;
    };
    for (size_t i = 0; i < command.inputs.size(); ++i) {
        Tensor* t = command.inputs[i];
        const int channelBlock = (choice.rowMajorInputs >> i & 1) ? 1 : choice.inputBlock;
        Operand* s = local.inputs[i] = store(t, channelBlock);
        if (channelBlock == 1)
            copyElements(*t, frame.data<void>(*s), data<void>(*t));
        else {
            const std::vector<float> packed = toPacked(*t, data<float>(*t), channelBlock);
            std::memcpy(frame.data<void>(*s), packed.data(), packed.size() * 4);
        }
    }
    for (size_t i = 0; i < command.outputs.size(); ++i)
        local.outputs[i] = store(command.outputs[i], choice.outputBlock);
    std::string reason;
    const std::unique_ptr<Execution> execution = op->create(backend, local, reason);
    if (!execution) throw std::runtime_error(reason);
    execution->prepare();
    AlignedBuffer scratch(execution->scratchBytes());
    frame.place(scratchNumber, scratch.data());
    const std::unique_ptr<ExecutionState> state = execution->makeState();
    frame.beginStep(scratchNumber, state.get());
    execution->run(frame);
    for (size_t i = 0; i < command.outputs.size(); ++i) {
        Tensor* t = command.outputs[i];
        const Tensor* s = local.outputs[i];
        if (choice.outputBlock == 1)
            copyElements(*t, data<void>(*t), frame.data<void>(*s));
        else
            fromPacked(*t, frame.data<const float>(*s), data<float>(*t), choice.outputBlock);
    }
}

Value run(OpType type, const Table& table, const std::vector<Value>& inputs) {
    return OpRun(type, table)(inputs)[0];
}

void expectRefused(OpType type, const Table& table, const std::vector<Value>& inputs, Status status,
                   const std::string& part) {
    try {
        run(type, table, inputs);
        ADD_FAILURE() << "accepted instead of: " << part;
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), status) << error.what();
        EXPECT_NE(error.message().find(part), std::string::npos) << error.what();
    }
}

Ints intsOf(OpType type, const Table& table, const std::vector<Value>& inputs) {
    return run(type, table, inputs).ints;
}

std::string shapeOf(OpType type, const Table& table, const std::vector<Value>& inputs) {
    return run(type, table, inputs).shape.text();
}

}  // namespace mnnc::test
