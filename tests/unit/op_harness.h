// Runs one operator of the library in a test: shape rule, geometry, CPU executions, with naive layout
// conversions. Slow and simple on purpose; it knows nothing of sessions, planning or fusing.
#pragma once
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/kernels.h"
#include "base/aligned.h"
#include "ops/op_def.h"

namespace mnnc::test {

struct Value {
    Shape shape;
    std::vector<float> data;
    Format format = Format::NCHW;
    std::vector<int32_t> ints;  // an int32 tensor when not empty
};

inline Value iota(Shape shape, float from = 1, Format format = Format::NCHW) {
    Value v{shape, {}, format, {}};
    for (int64_t i = 0; i < shape.elements(); ++i) v.data.push_back(from + static_cast<float>(i));
    return v;
}

// Row-major <-> packed for any 4-byte element; pad lanes get NaN, so that a kernel that uses them is found
// out.
inline std::vector<float> toPacked(const Tensor& t, const float* plain, int pack) {
    const int64_t c = t.shape.at(1), plane = t.plane(), blocks = ceilDiv(c, pack);
    std::vector<float> out(static_cast<size_t>(t.batch() * blocks * plane * pack),
                           std::numeric_limits<float>::quiet_NaN());
    for (int64_t n = 0; n < t.batch(); ++n)
        for (int64_t i = 0; i < c; ++i)
            for (int64_t p = 0; p < plane; ++p)
                std::memcpy(
                    &out[static_cast<size_t>(((n * blocks + i / pack) * plane + p) * pack + i % pack)],
                    &plain[(n * c + i) * plane + p], 4);
    return out;
}
inline void fromPacked(const Tensor& t, const float* packed, float* plain, int pack) {
    const int64_t c = t.shape.at(1), plane = t.plane(), blocks = ceilDiv(c, pack);
    for (int64_t n = 0; n < t.batch(); ++n)
        for (int64_t i = 0; i < c; ++i)
            for (int64_t p = 0; p < plane; ++p)
                std::memcpy(&plain[(n * c + i) * plane + p],
                            &packed[((n * blocks + i / pack) * plane + p) * pack + i % pack], 4);
}

class OpRun : GeometryContext {
  public:
    OpRun(const OpDef& def, ParamsPtr params, cpu::CpuFamily family, const char* isa = "", int threads = 1)
        : def_(def), family_(family), kernels_(selectKernels(isa)), threads_(threads) {
        node_.type = def.type;
        node_.def = &def;
        node_.name = "op under test";
        node_.params = std::move(params);
    }

    std::vector<Value> operator()(const std::vector<Value>& inputs, int outputs = 1) {
        std::vector<Tensor*> in, out;
        for (const Value& v : inputs) {
            Tensor* t = make(v.shape, v.ints.empty() ? DataType::Float32 : DataType::Int32, v.format);
            allocate(*t);
            t->contentKnown = true;
            if (t->elements() > 0)
                std::memcpy(t->data, v.ints.empty() ? static_cast<const void*>(v.data.data()) : v.ints.data(),
                            static_cast<size_t>(t->storageBytes()));
            node_.inputs.push_back(static_cast<int>(in.size()));
            in.push_back(t);
        }
        for (int i = 0; i < outputs; ++i) {
            out.push_back(make({}, DataType::Float32, Format::NCHW));
            node_.outputs.push_back(100 + i);
        }
        OpContext context{{node_, in, out}, *this};
        def_.shape ? def_.shape(context) : copyShapes(context);
        if (def_.geometry)
            def_.geometry(context);
        else
            emit(context.command());
        for (Command& command : commands_) execute(command);
        std::vector<Value> result;
        for (Tensor* t : out) {
            Value v{t->shape, {}, t->format, {}};
            if (t->type == DataType::Int32)
                v.ints.assign(t->as<int32_t>(), t->as<int32_t>() + t->elements());
            else
                v.data.assign(t->as<float>(), t->as<float>() + t->elements());
            result.push_back(v);
        }
        return result;
    }

  private:
    Tensor* make(const Shape& shape, DataType type, Format format) {
        tensors_.emplace_back();
        Tensor& t = tensors_.back();
        t.shape = shape;
        t.type = type;
        t.format = format;
        return &t;
    }
    void allocate(Tensor& t) {
        memory_.emplace_back(t.storageBytes());
        t.data = memory_.back().data();
    }
    Tensor* temporary(const Shape& shape, DataType type, Format format) override {
        return make(shape, type, format);
    }
    void constant(Tensor* output, const void* bytes) override {
        allocate(*output);
        output->contentKnown = true;
        std::memcpy(output->data, bytes, static_cast<size_t>(output->storageBytes()));
    }
    void emit(Command command) override { commands_.push_back(std::move(command)); }

    void execute(Command& command) {
        for (Tensor* t : command.outputs) allocate(*t);
        if (command.type == OpType::Raster) return raster(command);
        const cpu::CpuOp* op = nullptr;
        for (const cpu::CpuOp& candidate : family_)
            if (candidate.type == command.type) op = &candidate;
        if (!op) throw std::runtime_error("no execution");
        BackendConfig config;
        config.threads = threads_;
        WeightStore weights;
        std::shared_ptr<ThreadPool> pool = std::make_shared<InlinePool>();
        if (threads_ > 1) pool = std::make_shared<ForkJoinPool>(threads_);
        cpu::CpuBackend backend(kernels_, pool, config, weights);
        const StorageChoice choice = op->storage ? op->storage(backend, command) : StorageChoice{};
        // Copies of the tensors in the storage the execution asks for.
        std::deque<Tensor> stored;
        std::deque<AlignedBuffer> buffers;
        Command local = command;
        const auto place = [&](Tensor* t, int pack) {
            stored.push_back(*t);
            Tensor& s = stored.back();
            s.pack = pack;
            s.contentKnown = s.contentKnown && pack == 1;
            buffers.emplace_back(s.storageBytes());
            s.data = buffers.back().data();
            return &s;
        };
        for (size_t i = 0; i < command.inputs.size(); ++i) {
            Tensor* t = command.inputs[i];
            const int pack = (choice.plainInputs >> i & 1) ? 1 : choice.inputPack;
            Tensor* s = local.inputs[i] = place(t, pack);
            if (pack == 1)
                std::memcpy(s->data, t->data, static_cast<size_t>(t->storageBytes()));
            else {
                const std::vector<float> packed = toPacked(*t, t->as<float>(), pack);
                std::memcpy(s->data, packed.data(), packed.size() * 4);
            }
        }
        for (size_t i = 0; i < command.outputs.size(); ++i)
            local.outputs[i] = place(command.outputs[i], choice.outputPack);
        std::string reason;
        const std::unique_ptr<Execution> execution = op->create(backend, local, reason);
        if (!execution) throw std::runtime_error(reason);
        execution->onResize();
        AlignedBuffer scratch(execution->scratchBytes());
        execution->bindScratch(scratch.data());
        execution->onExecute();
        for (size_t i = 0; i < command.outputs.size(); ++i) {
            Tensor* t = command.outputs[i];
            const Tensor* s = local.outputs[i];
            if (choice.outputPack == 1)
                std::memcpy(t->data, s->data, static_cast<size_t>(t->storageBytes()));
            else
                fromPacked(*t, s->as<const float>(), t->as<float>(), choice.outputPack);
        }
    }

    static void raster(const Command& command) {
        Tensor& out = *command.outputs[0];
        std::memset(out.data, 0, static_cast<size_t>(out.storageBytes()));
        for (const Region& r : command.regions)
            for (int64_t i = 0; i < r.size[0]; ++i)
                for (int64_t j = 0; j < r.size[1]; ++j)
                    for (int64_t k = 0; k < r.size[2]; ++k)
                        out.as<float>()[r.dst.offset + i * r.dst.stride[0] + j * r.dst.stride[1] +
                                        k * r.dst.stride[2]] =
                            command.inputs[static_cast<size_t>(r.input)]
                                ->as<float>()[r.src.offset + i * r.src.stride[0] + j * r.src.stride[1] +
                                              k * r.src.stride[2]];
    }

    const OpDef& def_;
    cpu::CpuFamily family_;
    const Kernels& kernels_;
    int threads_;
    Node node_;
    std::deque<Tensor> tensors_;
    std::deque<AlignedBuffer> memory_;
    std::vector<Command> commands_;
};

inline const OpDef& defOf(OpFamily family, OpType type) {
    for (const OpDef& def : family)
        if (def.type == type) return def;
    throw std::runtime_error("no definition");
}

// Largest difference relative to 1; infinity when the sizes differ or a value is NaN.
inline double distance(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        const double d = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])) /
                         std::fmax(1.0, std::fabs(static_cast<double>(b[i])));
        if (!(d <= worst)) worst = std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
    }
    return worst;
}

}  // namespace mnnc::test
