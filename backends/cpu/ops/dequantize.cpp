// Dequantize and DynamicQuant.
#include "ops/dequantize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"
#include "tensor/element_types.h"

namespace mnnc::cpu {

namespace {

class Dequantize final : public Execution {
  public:
    explicit Dequantize(const Command& command) : command_(command), params_(command.paramsAs<DequantizeParams>()) {}

    void run(const Frame& frame) const override {
        withInteger(command_.inputs[0]->type, [&]<typename T>(T) { convert<T>(frame); });
    }

  private:
    // x = (q + shift) * scale + offset
    struct Line {
        float shift = 0, scale = 1, offset = 0;
    };

    // The formulas are those of TensorFlow's dequantize_op.cc.
    template <typename T>
    Line line(const Frame& frame) const {
        if (params_.mode == DequantMode::Affine) return {-params_.zero, params_.scale, 0};
        const float low = *frame.data<const float>(*command_.inputs[1]),
                    high = *frame.data<const float>(*command_.inputs[2]);
        constexpr auto kMin = static_cast<float>(std::numeric_limits<T>::lowest());
        constexpr auto kMax = static_cast<float>(std::numeric_limits<T>::max());
        const float step = (high - low) / (kMax - kMin);
        if (params_.mode == DequantMode::MinCombined)
            return {std::numeric_limits<T>::is_signed ? (kMax - kMin + 1) / 2 : 0, step, low};
        if (params_.mode == DequantMode::MinFirst) {
            const float start = low == high ? low : std::round(low / step) * step;
            return {0, step, start - kMin * step};
        }
        if (!std::numeric_limits<T>::is_signed) return {0, high / kMax, 0};
        return {0, std::max(low / kMin, high / kMax), 0};
    }

    template <typename T>
    void convert(const Frame& frame) const {
        const Line l = line<T>(frame);
        const T* from = frame.data<const T>(*command_.inputs[0]);
        auto* to = frame.data<float>(*command_.outputs[0]);
        forElements(frame.pool(), command_.outputs[0]->elements(), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) to[i] = (static_cast<float>(from[i]) + l.shift) * l.scale + l.offset;
        });
    }

    const Command command_;
    const DequantizeParams& params_;
};

// Returns the nearest integer of a value below 2^22, ties to even. It relies on the default rounding mode of additions.
inline float nearestEven(float value) {
    constexpr float kWhole = 12582912.0f;  // 1.5 * 2^23, from which on floats have no fractions
    return (value + kWhole) - kWhole;
}

// The range always includes 0, as in ONNX's DynamicQuantizeLinear. The codes there are 0 to 255; here 128 less.
class DynamicQuant final : public Execution {
  public:
    explicit DynamicQuant(const Command& command) : command_(command) {}

    void run(const Frame& frame) const override {
        const int64_t count = command_.inputs[0]->elements();
        const float* x = frame.data<const float>(*command_.inputs[0]);
        const Range range = rangeOf(x, count, frame.pool());
        // The quotient of a small range may be flushed to 0: then all values have the code of 0.
        const float step = (range.high - range.low) / 255;
        const float scale = step > 0 && std::isfinite(step) ? step : 1;
        const float zero = std::clamp(nearestEven(std::max(-range.low / scale, 0.0f)), 0.0f, 255.0f) - 128;
        *frame.data<float>(*command_.outputs[1]) = scale;
        *frame.data<float>(*command_.outputs[2]) = zero;
        auto* codes = frame.data<int8_t>(*command_.outputs[0]);
        forElements(frame.pool(), count, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const float value = x[i] / scale;
                const float inside = value > -512.0f ? (value < 512.0f ? value : 512.0f) : -512.0f;
                const float code = nearestEven(inside) + zero;
                codes[i] = static_cast<int8_t>(code > -128.0f ? (code < 127.0f ? code : 127.0f) : -128.0f);
            }
        });
    }

  private:
    struct Range {
        float low = 0, high = 0;
    };

    Range rangeOf(const float* x, int64_t count, ThreadPool& pool) const {
        constexpr int kPieces = 32;
        Range parts[kPieces];
        const int pieces = static_cast<int>(std::clamp<int64_t>(count / kPieceElements, 1, kPieces));
        parallelFor(pool, pieces, [&](int i) {
            Range part;
            for (int64_t k = count * i / pieces; k < count * (i + 1) / pieces; ++k) {
                part.low = x[k] < part.low ? x[k] : part.low;
                part.high = x[k] > part.high ? x[k] : part.high;
            }
            parts[i] = part;
        });
        Range all;
        for (const Range& part : parts) {
            all.low = std::min(all.low, part.low);
            all.high = std::max(all.high, part.high);
        }
        return all;
    }

    const Command command_;
};

}  // namespace

constexpr CpuOp kDequantizeCpu[] = {
    {OpType::Dequantize, nullptr, makeExecution<Dequantize>},
    {OpType::DynamicQuant, nullptr, makeExecution<DynamicQuant>},
};
extern constinit const CpuFamily dequantizeCpu = kDequantizeCpu;

}  // namespace mnnc::cpu
