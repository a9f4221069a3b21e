// BinaryOp on the CPU. Every case becomes rows of outputs. Along a row, each operand is contiguous, one value, or
// (packed storage, per-channel operand) one repeating vector. Integers without a scale wrap.
#include "ops/binary.h"

#include <cstring>

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/int8.h"
#include "backends/cpu/ops/split.h"
#include "base/error.h"

namespace mnnc::cpu {
namespace {

constexpr int64_t kReluChunk = 4096;  // outputs clamped while they are still in the cache

// Returns whether the operand has one value per channel (and perhaps per batch) of `big`: extents [1 or N, C, 1, 1 ...]
// from the right.
bool perChannel(const Shape& small, const Shape& big) {
    const int shift = big.rank() - small.rank();
    if (shift < 0 || big.rank() < 2 || shift > 1) return false;
    for (int axis = 2; axis < big.rank(); ++axis)
        if (small[axis - shift] != 1) return false;
    if (small[1 - shift] != big[1]) return false;
    return shift == 1 || small[0] == 1 || small[0] == big[0];
}

StorageChoice storageBinary(const CpuBackend& backend, const Command& command) {
    const Operand& a = *command.inputs[0];
    const Operand& b = *command.inputs[1];
    const Operand& out = *command.outputs[0];
    const int channelBlock = backend.channelBlock();
    StorageChoice packed{.inputBlock = channelBlock, .outputBlock = channelBlock};
    // Only tensors with elements of four bytes, and int8 tensors with scales, can be packed.
    const auto plain = [](const Operand& tensor) { return elementBytes(tensor.type) != 4 && !tensor.quant.known(); };
    if (plain(a) || plain(b) || plain(out)) return {};
    if (channelBlock == 1 || (a.channelBlock == 1 && b.channelBlock == 1) || out.format == Format::NHWC ||
        out.shape.rank() < 2)
        return {};
    if (a.shape == b.shape) return a.format == Format::NHWC || b.format == Format::NHWC ? StorageChoice{} : packed;
    const int bigIndex = a.channelBlock > 1 && a.shape == out.shape ? 0 : 1;
    const Operand& big = bigIndex == 0 ? a : b;
    const Operand& small = bigIndex == 0 ? b : a;
    if (big.channelBlock == 1 || !(big.shape == out.shape)) return {};
    if (small.elements() != 1 && !perChannel(small.shape, big.shape)) return {};
    // A small operand that is already packed by the same axis is not changed.
    if (small.channelBlock == 1 || small.shape.rank() != big.shape.rank()) packed.rowMajorInputs = 1u << (1 - bigIndex);
    return packed;
}

class Binary final : public Execution {
  public:
    Binary(const CpuBackend& backend, const Command& command, BinaryFn vector, BinaryScalarFn scalar, bool relu)
        : backend_(backend),
          inputs_{command.inputs[0], command.inputs[1]},
          output_(*command.outputs[0]),
          bytes_{widthOf(inputs_[0]), widthOf(inputs_[1])},
          outBytes_(widthOf(&output_)),
          vector_(vector),
          scalar_(scalar),
          relu_(relu),
          name_(command.name) {}

    void prepare() override {
        rows_ = 1;
        dims_ = 0;
        lanes_ = -1;
        mode_[0] = mode_[1] = Elements::Each;
        if (output_.channelBlock > 1)
            planPacked();
        else
            planPlain();
    }

    void run(const Frame& frame) const override {
        if (output_.empty()) return;
        if (rows_ == 1 && lanes_ < 0) {
            forStorage(frame.pool(), output_, [&](int64_t begin, int64_t end) {
                row(frame.data<const char>(*inputs_[0]) + (mode_[0] == Elements::Each ? begin * bytes_[0] : 0),
                    frame.data<const char>(*inputs_[1]) + (mode_[1] == Elements::Each ? begin * bytes_[1] : 0),
                    frame.data<char>(output_) + begin * outBytes_, end - begin);
            });
            return;
        }
        forRows(frame.pool(), rows_, length_, [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) lanes_ < 0 ? plainRow(frame, r) : channelRow(frame, r);
        });
    }

    uint32_t inPlaceInputs(size_t) const override {
        uint32_t whole = 0;
        for (int i = 0; i < 2; ++i)
            if (inputs_[i]->elements() == output_.elements() && bytes_[i] == outBytes_) whole |= 1u << i;
        return whole;
    }

  private:
    static int64_t widthOf(const Operand* tensor) { return static_cast<int64_t>(elementBytes(tensor->type)); }

    void planPacked() {
        length_ = storageElements(output_);
        if (inputs_[0]->shape == inputs_[1]->shape) {
            if (inputs_[0]->channelBlock != output_.channelBlock || inputs_[1]->channelBlock != output_.channelBlock)
                fail(Status::Internal, "op '%s': operands of equal shapes are stored differently", name_.c_str());
            return;
        }
        const int small =
            inputs_[0]->shape == output_.shape && inputs_[0]->channelBlock == output_.channelBlock ? 1 : 0;
        const Operand& operand = *inputs_[small];
        if (operand.elements() == 1) {
            mode_[small] = Elements::One;
            return;
        }
        if (!perChannel(operand.shape, output_.shape) || output_.channelBlock > kMaxLanes)
            fail(Status::Internal, "op '%s': %s cannot be combined with packed %s", name_.c_str(),
                 operand.shape.text().c_str(), output_.shape.text().c_str());
        lanes_ = small;
        mode_[small] = Elements::Lanes;
        blocks_ = ceilDiv(output_.shape[1], int64_t{output_.channelBlock});
        rows_ = output_.batch() * blocks_;
        length_ = output_.plane() * output_.channelBlock;
        perBatch_ = operand.shape.rank() == output_.shape.rank() && operand.shape[0] != 1;
    }

    // Merges adjacent axes that both operands read in the same way; the innermost one is the row.
    void planPlain() {
        struct Axis {
            int64_t size;
            bool used[2];
        } axes[kMaxRank];
        int count = 0;
        const int rank = output_.shape.rank();
        for (int axis = 0; axis < rank; ++axis) {
            if (output_.shape[axis] == 1) continue;
            Axis next{output_.shape[axis], {false, false}};
            for (int i = 0; i < 2; ++i) {
                const int own = axis - (rank - inputs_[i]->shape.rank());
                next.used[i] = own >= 0 && inputs_[i]->shape[own] != 1;
            }
            if (count > 0 && axes[count - 1].used[0] == next.used[0] && axes[count - 1].used[1] == next.used[1])
                axes[count - 1].size *= next.size;
            else
                axes[count++] = next;
        }
        length_ = count > 0 ? axes[count - 1].size : 1;
        int64_t stride[2] = {1, 1};
        for (int i = 0; i < 2 && count > 0; ++i) {
            if (!axes[count - 1].used[i]) mode_[i] = Elements::One;
            if (axes[count - 1].used[i]) stride[i] = length_;
        }
        dims_ = std::max(count - 1, 0);
        for (int axis = dims_ - 1; axis >= 0; --axis) {
            sizes_[axis] = axes[axis].size;
            rows_ *= axes[axis].size;
            for (int i = 0; i < 2; ++i) {
                strides_[i][axis] = axes[axis].used[i] ? stride[i] : 0;
                if (axes[axis].used[i]) stride[i] *= axes[axis].size;
            }
        }
    }

    void plainRow(const Frame& frame, int64_t r) const {
        int64_t offset[2] = {0, 0}, rest = r;
        for (int axis = dims_ - 1; axis >= 0; --axis) {
            const int64_t index = rest % sizes_[axis];
            rest /= sizes_[axis];
            offset[0] += index * strides_[0][axis];
            offset[1] += index * strides_[1][axis];
        }
        row(frame.data<const char>(*inputs_[0]) + offset[0] * bytes_[0],
            frame.data<const char>(*inputs_[1]) + offset[1] * bytes_[1],
            frame.data<char>(output_) + r * length_ * outBytes_, length_);
    }

    void channelRow(const Frame& frame, int64_t r) const {
        const Operand& operand = *inputs_[lanes_];
        const int64_t channelBlock = output_.channelBlock, block = r % blocks_, n = perBatch_ ? r / blocks_ : 0;
        alignas(64) float values[kMaxLanes] = {};
        if (operand.channelBlock > 1) {
            std::memcpy(values, frame.data<const float>(operand) + (n * blocks_ + block) * channelBlock,
                        static_cast<size_t>(channelBlock) * 4);
        } else {
            const int64_t channels = output_.shape[1], first = block * channelBlock;
            std::memcpy(values, frame.data<const float>(operand) + n * channels + first,
                        static_cast<size_t>(std::min(channelBlock, channels - first)) * 4);
        }
        const char* big = frame.data<const char>(*inputs_[1 - lanes_]) + r * length_ * 4;
        const char* small = reinterpret_cast<const char*>(values);
        row(lanes_ == 0 ? small : big, lanes_ == 0 ? big : small, frame.data<char>(output_) + r * length_ * 4, length_);
    }

    void row(const char* a, const char* b, char* y, int64_t n) const {
        if (!relu_) return call(a, b, y, static_cast<size_t>(n));
        // Chunks are whole vectors, so that a repeating vector keeps its phase.
        for (int64_t i = 0; i < n; i += kReluChunk) {
            const size_t count = static_cast<size_t>(std::min(kReluChunk, n - i));
            char* to = y + i * outBytes_;
            call(mode_[0] == Elements::Each ? a + i * bytes_[0] : a, mode_[1] == Elements::Each ? b + i * bytes_[1] : b,
                 to, count);
            switch (output_.type) {
                case DataType::Float32:
                    binaryKernels(backend_.kernels().id).reluFloat(reinterpret_cast<float*>(to), count);
                    break;
                case DataType::Int32:
                    clamp<int32_t>(to, count);
                    break;
                case DataType::Int16:
                    clamp<int16_t>(to, count);
                    break;
                case DataType::Int8:
                    clamp<int8_t>(to, count);
                    break;
                default:
                    break;  // unsigned
            }
        }
    }

    template <typename T>
    static void clamp(char* values, size_t count) {
        T* y = reinterpret_cast<T*>(values);
        for (size_t j = 0; j < count; ++j) y[j] = std::max(y[j], T(0));
    }

    void call(const void* a, const void* b, void* y, size_t n) const {
        if (vector_)
            vector_(a, mode_[0], b, mode_[1], y, n);
        else
            scalar_(a, mode_[0], b, mode_[1], y, n, static_cast<size_t>(backend_.kernels().lanes));
    }

    const CpuBackend& backend_;
    const Operand* inputs_[2];
    const Operand& output_;
    const int64_t bytes_[2], outBytes_;  // of an element
    const BinaryFn vector_;
    const BinaryScalarFn scalar_;
    const bool relu_;
    const std::string name_;

    Elements mode_[2] = {Elements::Each, Elements::Each};
    int64_t rows_ = 1, length_ = 0;
    int dims_ = 0;  // axes outside the row
    int64_t sizes_[kMaxRank] = {}, strides_[2][kMaxRank] = {};
    int lanes_ = -1;  // the per-channel input of packed storage; -1: none
    int64_t blocks_ = 0;
    bool perBatch_ = false;
};

std::unique_ptr<Execution> createBinary(CpuBackend& backend, const Command& command, std::string& reason) {
    const auto* params = &command.paramsAs<BinaryParams>();
    const DataType type = command.inputs[0]->type, other = command.inputs[1]->type;
    const auto scaled = [](const Operand* tensor) { return tensor->type == DataType::Int8 && tensor->quant.known(); };
    if (scaled(command.inputs[0]) || scaled(command.inputs[1]) || scaled(command.outputs[0]))
        return createInt8Binary(backend, command, reason);
    BinaryFn vector = nullptr;
    BinaryScalarFn scalar = nullptr;
    if (other == type && type == DataType::Float32) {
        vector = binaryKernels(backend.kernels().id).byCode[params->code];
        scalar = binaryScalarFloat(params->code);
    } else if (other == type) {
        scalar = binaryScalarInt(type, params->code);
    } else if (type == DataType::Int32 && other == DataType::Float32 && params->code == kBinaryPow) {
        scalar = powerOfIntByFloat();
    }
    if (!vector && !scalar)
        return refuse(reason, format("binary code %d does not exist for %s and %s", params->code, dataTypeName(type),
                                     dataTypeName(command.inputs[1]->type)));
    return std::make_unique<Binary>(backend, command, vector, scalar, params->relu);
}

}  // namespace

constexpr CpuOp kBinaryCpu[] = {{OpType::BinaryOp, storageBinary, createBinary, nullptr, quantizesBinary}};
extern constinit const CpuFamily binaryCpu = kBinaryCpu;

}  // namespace mnnc::cpu
