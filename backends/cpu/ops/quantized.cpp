// FloatToInt8 and Int8ToFloat: packed or row-major, one scale or one per channel. EltwiseInt8: row-major.
#include "ops/quantized.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"

namespace mnnc::cpu {

namespace {

class QuantCast final : public Execution {
  public:
    QuantCast(CpuBackend& backend, const Command& command)
        : kernels_(*backend.kernels().int8),
          toInt8_(command.type == OpType::FloatToInt8),
          in_(*command.inputs[0]),
          out_(*command.outputs[0]) {
        const auto* params = command.paramsIf<QuantCastParams>();
        const TensorQuant& quant = toInt8_ ? out_.quant : in_.quant;
        if (params) {
            scale_ = params->scale;
            zero_ = params->zero;
            lo_ = params->min;
            hi_ = params->max;
        } else {
            scale_ = {toInt8_ ? 1.0f / quant.scale : quant.scale};
            zero_ = {quant.zero};
            lo_ = quant.min;
            hi_ = quant.max;
        }
        each_ = scale_.size() > 1;
        // The arrays are padded to whole vectors of any width.
        for (std::vector<float>* values : {&scale_, &zero_})
            values->resize(static_cast<size_t>(roundUp(static_cast<int64_t>(values->size()), kMaxLanes)),
                           each_ ? 0 : values->front());
    }

    void run(const Frame& frame) const override {
        ThreadPool& pool = frame.pool();
        const int64_t lanes = kernels_.lanes;
        if (!each_) {
            const int64_t count = out_.storageElements(), blocks = ceilDiv(count, lanes);
            parallelRanges(pool, static_cast<int64_t>(blocks), 4 * pool.threads(), [&](int64_t begin, int64_t end) {
                move(frame, begin * lanes, std::min(end * lanes, count) - begin * lanes, scale_.data(), zero_.data());
            });
            return;
        }
        const int64_t channels = out_.shape[1], plane = out_.plane();
        const bool packed = out_.channelBlock > 1;
        const int64_t rows = packed ? ceilDiv(channels, lanes) : channels, length = packed ? plane * lanes : plane;
        parallelFor(pool, static_cast<int>(out_.batch() * rows), [&](int i) {
            const int64_t row = i % rows;
            if (packed) return move(frame, i * length, length, scale_.data() + row * lanes, zero_.data() + row * lanes);
            float scale[kMaxLanes], zero[kMaxLanes];
            std::fill_n(scale, kMaxLanes, scale_[static_cast<size_t>(row)]);
            std::fill_n(zero, kMaxLanes, zero_[static_cast<size_t>(row)]);
            move(frame, i * length, length, scale, zero);
        });
    }

  private:
    // Converts `count` elements from `at` on, with one vector of scales for all.
    void move(const Frame& frame, int64_t at, int64_t count, const float* scale, const float* zero) const {
        const int64_t lanes = kernels_.lanes, blocks = count / lanes, rest = count % lanes;
        const QuantizeArgs args{scale, zero, lo_, hi_};
        if (in_.type == DataType::UInt8) return moveUnsigned(frame, at, count, scale, zero);
        const auto run = [&](const void* from, void* to, int64_t n) {
            if (toInt8_)
                kernels_.quantize(static_cast<const float*>(from), static_cast<int8_t*>(to), static_cast<size_t>(n),
                                  args);
            else
                kernels_.dequantize(static_cast<const int8_t*>(from), static_cast<float*>(to), static_cast<size_t>(n),
                                    scale, zero);
        };
        const int64_t wide = toInt8_ ? 4 : 1, narrow = toInt8_ ? 1 : 4;
        const char* from = frame.data<const char>(in_) + at * wide;
        char* to = frame.data<char>(out_) + at * narrow;
        run(from, to, blocks);
        if (rest == 0) return;
        alignas(64) char source[kMaxLanes * 4] = {}, target[kMaxLanes * 4];
        std::memcpy(source, from + blocks * lanes * wide, static_cast<size_t>(rest * wide));
        run(source, target, 1);
        std::memcpy(to + blocks * lanes * narrow, target, static_cast<size_t>(rest * narrow));
    }

    // Does the same with unsigned codes, which are made signed piece by piece.
    void moveUnsigned(const Frame& frame, int64_t at, int64_t count, const float* scale, const float* zero) const {
        constexpr int64_t kPiece = 512;
        const int64_t lanes = kernels_.lanes;
        const uint8_t* from = frame.data<const uint8_t>(in_) + at;
        float* to = frame.data<float>(out_) + at;
        for (int64_t done = 0; done < count; done += kPiece) {
            const int64_t n = std::min(kPiece, count - done), blocks = n / lanes, rest = n % lanes;
            alignas(64) int8_t codes[kPiece];
            for (int64_t i = 0; i < n; ++i) codes[i] = static_cast<int8_t>(int{from[done + i]} - 128);
            std::fill(codes + n, codes + roundUp(n, lanes), int8_t{0});
            kernels_.dequantize(codes, to + done, static_cast<size_t>(blocks), scale, zero);
            if (rest == 0) continue;
            alignas(64) float tail[kMaxLanes];
            kernels_.dequantize(codes + blocks * lanes, tail, 1, scale, zero);
            std::copy_n(tail, rest, to + done + blocks * lanes);
        }
    }

    const Int8Kernels& kernels_;
    const bool toInt8_;
    const Operand& in_;
    const Operand& out_;
    std::vector<float> scale_, zero_;
    float lo_ = -128, hi_ = 127;
    bool each_ = false;
};

class EltwiseInt8 final : public Execution {
  public:
    explicit EltwiseInt8(const Command& command) : command_(command), params_(command.paramsAs<EltwiseInt8Params>()) {}

    void run(const Frame& frame) const override {
        const Operand& out = *command_.outputs[0];
        const int64_t channels = out.shape[1], plane = out.plane();
        forRows(frame.pool(), out.batch() * channels, plane, [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row) {
                const auto scale = [&](int i) {
                    const auto& all = params_.scale[i];
                    return all[all.size() == 1 ? 0 : static_cast<size_t>(row % channels)];
                };
                const float first = scale(0), second = scale(1), last = scale(2);
                const auto* a = frame.data<const int8_t>(*command_.inputs[0]) + row * plane;
                const auto* b = frame.data<const int8_t>(*command_.inputs[1]) + row * plane;
                auto* y = frame.data<int8_t>(out) + row * plane;
                for (int64_t i = 0; i < plane; ++i) {
                    const float sum = (a[i] * first + b[i] * second) * last;
                    y[i] = static_cast<int8_t>(sum > -127.0f ? std::min(sum, 127.0f) : -127.0f);
                }
            }
        });
    }

  private:
    const Command command_;
    const EltwiseInt8Params& params_;
};

std::unique_ptr<Execution> createQuantCast(CpuBackend& backend, const Command& command, std::string& reason) {
    const Operand& int8 = command.type == OpType::FloatToInt8 ? *command.outputs[0] : *command.inputs[0];
    if (!command.params && !int8.quant.known())
        return refuse(reason, format("op '%s' has no table, and the model gives no scale for tensor '%s'",
                                     command.name.c_str(), int8.name.c_str()));
    return std::make_unique<QuantCast>(backend, command);
}

}  // namespace

constexpr CpuOp kQuantizedCpu[] = {
    {OpType::FloatToInt8, storageFollow, createQuantCast},
    {OpType::Int8ToFloat, storageFollow, createQuantCast},
    {OpType::EltwiseInt8, nullptr, makeExecution<EltwiseInt8>},
};
extern constinit const CpuFamily quantizedCpu = kQuantizedCpu;

}  // namespace mnnc::cpu
