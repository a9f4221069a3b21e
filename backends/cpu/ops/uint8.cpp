// Operators over TFLite's unsigned codes except convolutions, in plain C++, because current converters do not produce
// them. Sums have 32 bits and wrap.
#include "ops/uint8.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"
#include "backends/cpu/ops/uint8_convolution.h"

namespace mnnc::cpu {

namespace {

class CodePool final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

    void prepare() override {
        const PoolWindow w = poolWindow(params<CodePoolParams>().window, in(0).shape, command().name.c_str());
        y_ = w.axis[1];
        x_ = w.axis[2];
        y_.begin = std::max(y_.begin, 0);
        x_.begin = std::max(x_.begin, 0);
    }

    void run(const Frame& frame) const override {
        const int64_t planes = out().shape[0] * out().shape[1], taps = int64_t{y_.kernel} * x_.kernel;
        forRows(frame.pool(), planes * y_.out, x_.out * taps, [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row)
                for (int64_t x = 0; x < x_.out; ++x)
                    outData<uint8_t>(frame)[row * x_.out + x] = makePixel(frame, row / y_.out, row % y_.out, x);
        });
    }

  private:
    uint8_t makePixel(const Frame& frame, int64_t planeIndex, int64_t oy, int64_t ox) const {
        const auto& p = params<CodePoolParams>();
        const uint8_t* source = inData<uint8_t>(frame, 0) + planeIndex * y_.in * x_.in;
        const int64_t top = oy * y_.stride - y_.begin, left = ox * x_.stride - x_.begin;
        const int64_t y0 = std::max<int64_t>(top, 0), y1 = std::min<int64_t>(top + y_.kernel, y_.in);
        const int64_t x0 = std::max<int64_t>(left, 0), x1 = std::min<int64_t>(left + x_.kernel, x_.in);
        int64_t sum = 0, largest = 0;
        for (int64_t y = y0; y < y1; ++y)
            for (int64_t x = x0; x < x1; ++x) {
                sum += source[y * x_.in + x];
                largest = std::max<int64_t>(largest, source[y * x_.in + x]);
            }
        const int64_t count = y1 > y0 && x1 > x0 ? (y1 - y0) * (x1 - x0) : 1;
        return clampCode(p.range, p.window.average ? (sum + count / 2) / count : largest);
    }

    PoolAxis y_, x_;
};

class CodeAdd final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

    void run(const Frame& frame) const override {
        const auto& p = params<CodeAddParams>();
        const auto scaled = [&p](int i, uint8_t code) {
            return int64_t{p.factor[i].times(int32_t{code - p.zero[i]} * (1 << kCodeAddBits))};
        };
        const auto *a = inData<uint8_t>(frame, 0), *b = inData<uint8_t>(frame, 1);
        forElements(frame.pool(), out().elements(), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const auto sum = static_cast<int32_t>(scaled(0, a[i]) + scaled(1, b[i]));
                outData<uint8_t>(frame)[i] = clampCode(p.range, int64_t{p.factorOut.times(sum)} + p.zeroOut);
            }
        });
    }
};

class CodeTable final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

    void run(const Frame& frame) const override {
        const auto& results = params<CodeTableParams>().results;
        forElements(frame.pool(), out().elements(), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) outData<uint8_t>(frame)[i] = results[inData<uint8_t>(frame, 0)[i]];
        });
    }
};

// Computes over the channels of a picture, else over the last axis. The result's scale is 1/256.
class CodeSoftmax final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

    void run(const Frame& frame) const override {
        const Shape& shape = in(0).shape;
        const int axis = in(0).format == Format::NC4HW4 && shape.rank() > 1 ? 1 : shape.rank() - 1;
        const int64_t length = shape[axis], inner = shape.elements(axis + 1, shape.rank());
        const auto& powers = params<CodeSoftmaxParams>().powers;
        forRows(frame.pool(), out().elements() / length, length, [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row) {
                const int64_t at = row / inner * length * inner + row % inner;
                const uint8_t* x = inData<uint8_t>(frame, 0) + at;
                uint8_t* y = outData<uint8_t>(frame) + at;
                uint8_t largest = 0;
                for (int64_t i = 0; i < length; ++i) largest = std::max(largest, x[i * inner]);
                float sum = 0;
                for (int64_t i = 0; i < length; ++i) sum += powers[static_cast<size_t>(largest - x[i * inner])];
                for (int64_t i = 0; i < length; ++i) {
                    const float part = powers[static_cast<size_t>(largest - x[i * inner])] / sum;
                    y[i * inner] = static_cast<uint8_t>(std::min(std::round(part * 256), 255.0f));
                }
            }
        });
    }
};

}  // namespace

constexpr CpuOp kUint8Cpu[] = {
    {OpType::TfQuantizedConv2D, nullptr, createUint8Convolution},
    {OpType::QuantizedDepthwiseConv2D, nullptr, createUint8Convolution},
    {OpType::QuantizedAvgPool, nullptr, makeExecution<CodePool>},
    {OpType::QuantizedMaxPool, nullptr, makeExecution<CodePool>},
    {OpType::QuantizedAdd, nullptr, makeExecution<CodeAdd>},
    {OpType::QuantizedLogistic, nullptr, makeExecution<CodeTable>},
    {OpType::QuantizedSoftmax, nullptr, makeExecution<CodeSoftmax>},
};
extern constinit const CpuFamily uint8Cpu = kUint8Cpu;

}  // namespace mnnc::cpu
