// While in its LoopParam form. Boxes are computed row by row: the operands of a row are gathered, combined by the
// vector kernels and scattered. Places outside of a source read as zero, and results outside of the destination are
// dropped.
#include "ops/region_loop.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "base/error.h"

namespace mnnc::cpu {

namespace {

constexpr int64_t kRow = 256;  // elements that are computed at once
using Row = float[kRow];

class RegionLoop final : public CommandExecution {
  public:
    RegionLoop(const CpuBackend& backend, const Command& command)
        : CommandExecution(command),
          backend_(backend),
          unary_(unaryKernels(backend.kernels().id)),
          binary_(binaryKernels(backend.kernels().id)) {}

    // Returns why the commands cannot be run, or an empty text.
    std::string missing() const {
        for (const LoopCommand& c : params<LoopParams>().commands) {
            const bool ints = tensor(c.operands[0]).type != DataType::Float32;
            if (c.kind == LoopCommand::Kind::Unary && (ints || !unaryFloat(c.code)))
                return format("UnaryOp %d of %s is not implemented in a loop", c.code,
                              dataTypeName(tensor(c.operands[0]).type));
            if (c.kind == LoopCommand::Kind::MatMul && !allFloats(c))
                return "a product of integers is not implemented in a loop";
            if (c.kind == LoopCommand::Kind::Binary && !canCompute(codeOf(c), tensor(c.operands[1]).type))
                return format("BinaryOp %d is not implemented in a loop", c.code);
            if (c.fuse >= 0 && !canCompute(c.fuse, tensor(c.operands[0]).type))
                return format("a fused BinaryOp %d is not implemented in a loop", c.fuse);
        }
        return {};
    }

    void prepare() override {
        int64_t bytes = 0;
        for (const LoopCommand& c : params<LoopParams>().commands) {
            if (c.kind != LoopCommand::Kind::MatMul) continue;
            const auto [e, l, h] = c.size;
            const char* name = command().name.c_str();
            if (checkedMul(e, l, name) > INT_MAX || checkedMul(l, h, name) > INT_MAX ||
                checkedMul(e, h, name) > INT_MAX)
                fail(Status::LimitExceeded,
                     "op '%s' (While): a matrix of the product %lld x %lld x %lld has more than %d elements", name,
                     asLong(e), asLong(l), asLong(h), INT_MAX);
            bytes = std::max(bytes, packedBytes(c) + roundUp(4 * e * h, 64) +
                                        static_cast<int64_t>(gemmScratchBytes(backend_.kernels(), product(c),
                                                                              backend_.planningPool().threads())));
        }
        requestScratch(bytes);
    }

    void run(const Frame& frame) const override {
        const auto& p = params<LoopParams>();
        for (const Operand* output : command().outputs)
            if (!output->empty())
                std::memset(frame.data<void>(*output), 0, static_cast<size_t>(output->storageBytes()));
        for (const LoopCommand& c : p.before) {
            const Operand& output = tensor(c.operands[0]);
            if (c.kind != LoopCommand::Kind::Zero)
                computeBox(frame, c, 0);
            else if (!output.empty())
                std::memset(frame.data<void>(output), 0, static_cast<size_t>(output.storageBytes()));
        }
        for (int64_t round = 0; round < p.rounds; ++round)
            for (const LoopCommand& c : p.commands) {
                if (c.kind == LoopCommand::Kind::MatMul)
                    multiply(frame, c, round);
                else
                    computeBox(frame, c, round);
            }
    }

  private:
    const Operand& tensor(const LoopOperand& operand) const { return tensor(operand.slot); }
    const Operand& tensor(int slot) const {
        const auto at = static_cast<size_t>(slot), inputs = command().inputs.size();
        return at < inputs ? in(at) : out(at - inputs);
    }

    UnaryFn unaryFloat(int code) const {
        if (code < 0 || code >= kUnaryCodes) return nullptr;
        return unary_.byCode[code] ? unary_.byCode[code] : unaryScalarFloat(code);
    }
    bool allFloats(const LoopCommand& c) const {
        return std::all_of(c.operands.begin(), c.operands.end(),
                           [&](const LoopOperand& operand) { return tensor(operand).type == DataType::Float32; });
    }
    int codeOf(const LoopCommand& c) const {
        return commandBinaryCode(c.code, params<LoopParams>().mod, tensor(c.operands[1]).type);
    }
    // Integers of 8 bits are computed with 32 bits.
    bool canCompute(int code, DataType type) const {
        if (code < 0 || code >= kBinaryCodes) return false;
        if (type != DataType::Float32) return binaryScalarInt(DataType::Int32, code) != nullptr;
        return binary_.byCode[code] || binaryScalarFloat(code);
    }
    void compute(int code, DataType type, const float* a, const float* b, float* y, int64_t n) const {
        const auto count = static_cast<size_t>(n);
        if (type != DataType::Float32)
            binaryScalarInt(DataType::Int32, code)(a, Elements::Each, b, Elements::Each, y, count, 1);
        else if (binary_.byCode[code])
            binary_.byCode[code](a, Elements::Each, b, Elements::Each, y, count);
        else
            binaryScalarFloat(code)(a, Elements::Each, b, Elements::Each, y, count, 1);
    }

    // Returns the element at which the box of an operand begins in a round.
    int64_t base(const Frame& frame, const LoopOperand& operand, int64_t round) const {
        int64_t unit = round;
        if (operand.unitSlot >= 0) {
            const Operand& units = tensor(operand.unitSlot);
            if (round >= units.elements())
                fail(Status::InputDataError, "op '%s' (While): round %lld reads an index, there are only %lld",
                     command().name.c_str(), asLong(round), asLong(units.elements()));
            unit = frame.data<const int32_t>(units)[round];
        }
        return operand.view.offset + operand.step * unit;
    }

    // Returns the elements at, at + stride ...: in place where that is possible, otherwise copied to `row`.
    const float* gather(const Frame& frame, const LoopOperand& operand, int64_t at, int64_t stride, int64_t n,
                        Row& row) const {
        const Operand& from = tensor(operand);
        if (elementBytes(from.type) == 1) return gatherBytes(frame, from, at, stride, n, row);
        const auto* data = frame.data<const float>(from);
        const int64_t size = from.elements();
        if (stride == 1 && at >= 0 && at + n <= size) return data + at;
        for (int64_t i = 0; i < n; ++i, at += stride) row[i] = at >= 0 && at < size ? data[at] : 0.0f;
        return row;
    }
    // Copies integers of 8 bits to integers of 32 bits, in the memory of floats.
    static const float* gatherBytes(const Frame& frame, const Operand& from, int64_t at, int64_t stride, int64_t n,
                                    Row& row) {
        for (int64_t i = 0; i < n; ++i, at += stride) {
            const int32_t value = at >= 0 && at < from.elements() ? byteAt(frame, from, at) : 0;
            std::memcpy(row + i, &value, sizeof value);
        }
        return row;
    }
    static int32_t byteAt(const Frame& frame, const Operand& tensor, int64_t at) {
        return tensor.type == DataType::Int8 ? frame.data<const int8_t>(tensor)[at]
                                             : frame.data<const uint8_t>(tensor)[at];
    }
    void scatterBytes(const Frame& frame, const LoopCommand& c, int64_t at, int64_t stride, int64_t n,
                      const float* values) const {
        const Operand& to = tensor(c.operands[0]);
        for (int64_t i = 0; i < n; ++i, at += stride) {
            if (at < 0 || at >= to.elements()) continue;
            int32_t value = 0;
            std::memcpy(&value, values + i, sizeof value);
            if (c.fuse >= 0) {
                float before = 0, after = 0, now = 0;
                const int32_t old = byteAt(frame, to, at);
                std::memcpy(&before, &old, sizeof old);
                std::memcpy(&now, &value, sizeof value);
                compute(c.fuse, to.type, &before, &now, &after, 1);
                std::memcpy(&value, &after, sizeof value);
            }
            frame.data<uint8_t>(to)[at] = static_cast<uint8_t>(value);
        }
    }
    void scatter(const Frame& frame, const LoopCommand& c, int64_t at, int64_t stride, int64_t n,
                 const float* values) const {
        const Operand& to = tensor(c.operands[0]);
        if (elementBytes(to.type) == 1) return scatterBytes(frame, c, at, stride, n, values);
        auto* data = frame.data<float>(to);
        const int64_t size = to.elements();
        if (c.fuse < 0) {
            // Elements are copied as bits, because an integer may look like a NaN.
            for (int64_t i = 0; i < n; ++i, at += stride)
                if (at >= 0 && at < size) std::memcpy(data + at, values + i, sizeof(float));
            return;
        }
        // Elements are added one by one, because two elements of a row may have the same place.
        for (int64_t i = 0; i < n; ++i, at += stride)
            if (at >= 0 && at < size) compute(c.fuse, to.type, data + at, values + i, data + at, 1);
    }

    void computeBox(const Frame& frame, const LoopCommand& c, int64_t round) const {
        int64_t bases[3] = {};
        const size_t operands = std::min<size_t>(c.operands.size(), 3);
        for (size_t v = 0; v < operands; ++v) bases[v] = base(frame, c.operands[v], round);
        const auto at = [&](size_t v, int64_t i, int64_t j, int64_t k) {
            const int64_t* stride = c.operands[v].view.stride;
            return bases[v] + i * stride[0] + j * stride[1] + k * stride[2];
        };
        for (int64_t i = 0; i < c.size[0]; ++i)
            for (int64_t j = 0; j < c.size[1]; ++j)
                for (int64_t k = 0; k < c.size[2]; k += kRow) {
                    const int64_t n = std::min(kRow, c.size[2] - k);
                    Row a, b, y;
                    const float* result =
                        gather(frame, c.operands[1], at(1, i, j, k), c.operands[1].view.stride[2], n, a);
                    if (c.kind == LoopCommand::Kind::Unary) {
                        unaryFloat(c.code)(result, y, static_cast<size_t>(n));
                        result = y;
                    } else if (c.kind == LoopCommand::Kind::Binary) {
                        const float* second =
                            gather(frame, c.operands[2], at(2, i, j, k), c.operands[2].view.stride[2], n, b);
                        compute(codeOf(c), tensor(c.operands[1]).type, result, second, y, n);
                        result = y;
                    }
                    scatter(frame, c, at(0, i, j, k), c.operands[0].view.stride[2], n, result);
                }
    }

    GemmArgs product(const LoopCommand& c) const {
        GemmArgs args;
        args.M = static_cast<int>(c.size[0]);
        args.K = static_cast<int>(c.size[1]);
        args.N = static_cast<int>(c.size[2]);
        args.transA = c.transposeA;
        args.lda = static_cast<size_t>(c.transposeA ? args.M : args.K);
        args.ldc = static_cast<size_t>(args.N);
        return args;
    }
    int64_t packedBytes(const LoopCommand& c) const {
        const auto n = static_cast<int>(c.size[2]), k = static_cast<int>(c.size[1]);
        return roundUp(static_cast<int64_t>(gemmPackedBytes(backend_.kernels(), GemmType::Float, n, k)), 64);
    }
    const float* operand(const Frame& frame, const LoopCommand& c, size_t v, int64_t round, int64_t count) const {
        const Operand& from = tensor(c.operands[v]);
        const int64_t at = base(frame, c.operands[v], round);
        if (at < 0 || at + count > from.elements())
            fail(Status::InputDataError,
                 "op '%s' (While): a product reads %lld elements from %lld on, its operand has %lld",
                 command().name.c_str(), asLong(count), asLong(at), asLong(from.elements()));
        return frame.data<const float>(from) + at;
    }
    // Element (i, j) of the product is stored at i times stride 0 and j times stride 2.
    void multiply(const Frame& frame, const LoopCommand& c, int64_t round) const {
        const auto [e, l, h] = c.size;
        if (e == 0 || h == 0) return;
        GemmArgs args = product(c);
        args.a = operand(frame, c, 1, round, e * l);
        const float* b = operand(frame, c, 2, round, l * h);
        if (c.operands.size() > 3) args.post.bias = operand(frame, c, 3, round, h);
        char* memory = static_cast<char*>(frame.scratch());
        gemmPackB(backend_.kernels(), GemmType::Float, args.N, args.K, b,
                  static_cast<size_t>(c.transposeB ? args.K : args.N), c.transposeB, memory, frame.pool());
        args.packedB = memory;
        memory += packedBytes(c);
        args.c = reinterpret_cast<float*>(memory);
        args.scratch = memory + roundUp(4 * e * h, 64);
        gemm(backend_.kernels(), args, frame.pool());
        const int64_t to = base(frame, c.operands[0], round), *stride = c.operands[0].view.stride;
        for (int64_t i = 0; i < e; ++i) scatter(frame, c, to + i * stride[0], stride[2], h, args.c + i * h);
    }

    const CpuBackend& backend_;
    const UnaryKernels& unary_;
    const BinaryKernels& binary_;
};

std::unique_ptr<Execution> createRegionLoop(CpuBackend& backend, const Command& command, std::string& reason) {
    auto loop = std::make_unique<RegionLoop>(backend, command);
    reason = loop->missing();
    if (!reason.empty()) return nullptr;
    return loop;
}

}  // namespace

constexpr CpuOp kRegionLoopCpu[] = {{OpType::While, nullptr, createRegionLoop}};
extern constinit const CpuFamily regionLoopCpu = kRegionLoopCpu;

}  // namespace mnnc::cpu
