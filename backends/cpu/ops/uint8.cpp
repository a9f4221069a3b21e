// Operators over TFLite's unsigned codes, in plain C++: no current converter prefers them. Sums are of 32 bits and wrap.
#include "ops/uint8.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"

namespace mnnc::cpu {

namespace {

// Command execution with threads.
class CodeExecution : public CommandExecution {
  public:
    CodeExecution(CpuBackend& backend, const Command& command)
        : CommandExecution(command), backend_(backend) {}

  protected:
    ThreadPool& pool() const { return backend_.pool(); }

  private:
    CpuBackend& backend_;
};

uint8_t clampTo(const CodeRange& range, int64_t value) {
    return static_cast<uint8_t>(std::clamp<int64_t>(value, range.low, range.high));
}

// ConvPerLayer of TFLite's reference kernels: taps beside the picture add nothing.
class CodeConv final : public CodeExecution {
  public:
    using CodeExecution::CodeExecution;

    void onResize() override {
        const auto& p = params<CodeConvParams>();
        window_ =
            convWindow(OpType::Convolution, p.window, in(0).shape, nullptr, nullptr, command().name.c_str());
        if (p.window.padMode == ConvPad::Same) {  // TFLite never skips rows
            window_.padTop = std::max<int64_t>(window_.padTop, 0);
            window_.padLeft = std::max<int64_t>(window_.padLeft, 0);
        }
        if (window_.batch * window_.oh > std::numeric_limits<int>::max())
            fail(Status::ComputeSizeError, "op '%s': %lld pictures of %lld rows", command().name.c_str(),
                 static_cast<long long>(window_.batch), static_cast<long long>(window_.oh));
        requestScratch(checkedMul(checkedMul(window_.oc, 4, "sums"), pool().threads(), "sums"));
    }

    void onExecute() override {
        parallelSlots(pool(), static_cast<int>(window_.batch * window_.oh), [&](int slot, int row) {
            auto* sums = static_cast<uint32_t*>(scratch()) + slot * window_.oc;
            for (int64_t x = 0; x < window_.ow; ++x) makePixel(row / window_.oh, row % window_.oh, x, sums);
        });
    }

  private:
    void makePixel(int64_t n, int64_t oy, int64_t ox, uint32_t* sums) const {
        const auto& p = params<CodeConvParams>();
        const ConvWindow& w = window_;
        const int64_t plane = w.ih * w.iw;
        for (int64_t o = 0; o < w.oc; ++o) sums[o] = static_cast<uint32_t>(p.bias[static_cast<size_t>(o)]);
        for (int64_t ky = 0; ky < w.kh; ++ky) {
            const int64_t y = oy * p.window.strideY - w.padTop + ky * p.window.dilateY;
            if (y < 0 || y >= w.ih) continue;
            for (int64_t kx = 0; kx < w.kw; ++kx) {
                const int64_t x = ox * p.window.strideX - w.padLeft + kx * p.window.dilateX;
                if (x < 0 || x >= w.iw) continue;
                const uint8_t* source = inData<uint8_t>(0) + n * w.ic * plane + y * w.iw + x;
                const int64_t tap = ky * w.kw + kx;
                if (p.depthwise)
                    addDepthwise(source, plane, p.weights.data() + tap * w.oc, sums);
                else
                    addDense(source, plane, p.weights.data() + tap * w.ic * w.oc, sums);
            }
        }
        uint8_t* target = outData<uint8_t>() + (n * w.oc * w.oh + oy) * w.ow + ox;
        for (int64_t o = 0; o < w.oc; ++o) {
            const int64_t code = int64_t{p.factor.times(static_cast<int32_t>(sums[o]))} + p.zeroOut;
            target[o * w.oh * w.ow] = clampTo(p.range, code);
        }
    }

    void addDense(const uint8_t* source, int64_t plane, const uint8_t* weights, uint32_t* sums) const {
        const auto& p = params<CodeConvParams>();
        for (int64_t c = 0; c < window_.ic; ++c, weights += window_.oc) {
            const int32_t value = source[c * plane] - p.zeroIn;
            for (int64_t o = 0; o < window_.oc; ++o)
                sums[o] += static_cast<uint32_t>(value * (weights[o] - p.zeroWeight));
        }
    }

    void addDepthwise(const uint8_t* source, int64_t plane, const uint8_t* weights, uint32_t* sums) const {
        const auto& p = params<CodeConvParams>();
        for (int64_t o = 0; o < window_.oc; ++o) {
            const int32_t value = source[o / p.depthMultiplier * plane] - p.zeroIn;
            sums[o] += static_cast<uint32_t>(value * (weights[o] - p.zeroWeight));
        }
    }

    ConvWindow window_;
};

class CodePool final : public CodeExecution {
  public:
    using CodeExecution::CodeExecution;

    void onResize() override {
        const PoolWindow w = poolWindow(params<CodePoolParams>().window, in(0).shape, command().name.c_str());
        y_ = w.axis[1];
        x_ = w.axis[2];
        y_.begin = std::max(y_.begin, 0);
        x_.begin = std::max(x_.begin, 0);
    }

    void onExecute() override {
        const int64_t planes = out().shape[0] * out().shape[1], taps = int64_t{y_.kernel} * x_.kernel;
        forRows(pool(), planes * y_.out, x_.out * taps, [&](long begin, long end) {
            for (long row = begin; row < end; ++row)
                for (int64_t x = 0; x < x_.out; ++x)
                    outData<uint8_t>()[row * x_.out + x] = makePixel(row / y_.out, row % y_.out, x);
        });
    }

  private:
    uint8_t makePixel(int64_t planeIndex, int64_t oy, int64_t ox) const {
        const auto& p = params<CodePoolParams>();
        const uint8_t* source = inData<uint8_t>(0) + planeIndex * y_.in * x_.in;
        const int64_t top = oy * y_.stride - y_.begin, left = ox * x_.stride - x_.begin;
        const int64_t y0 = std::max<int64_t>(top, 0), y1 = std::min<int64_t>(top + y_.kernel, y_.in);
        const int64_t x0 = std::max<int64_t>(left, 0), x1 = std::min<int64_t>(left + x_.kernel, x_.in);
        int64_t sum = 0, most = 0;
        for (int64_t y = y0; y < y1; ++y)
            for (int64_t x = x0; x < x1; ++x) {
                sum += source[y * x_.in + x];
                most = std::max<int64_t>(most, source[y * x_.in + x]);
            }
        const int64_t count = y1 > y0 && x1 > x0 ? (y1 - y0) * (x1 - x0) : 1;
        return clampTo(p.range, p.window.average ? (sum + count / 2) / count : most);
    }

    PoolAxis y_, x_;
};

class CodeAdd final : public CodeExecution {
  public:
    using CodeExecution::CodeExecution;

    void onExecute() override {
        const auto& p = params<CodeAddParams>();
        const auto scaled = [&p](int i, uint8_t code) {
            return int64_t{p.factor[i].times(int32_t{code - p.zero[i]} * (1 << kCodeAddBits))};
        };
        const auto *a = inData<uint8_t>(0), *b = inData<uint8_t>(1);
        forElements(pool(), out().elements(), [&](long begin, long end) {
            for (long i = begin; i < end; ++i) {
                const auto sum = static_cast<int32_t>(scaled(0, a[i]) + scaled(1, b[i]));
                outData<uint8_t>()[i] = clampTo(p.range, int64_t{p.factorOut.times(sum)} + p.zeroOut);
            }
        });
    }
};

class CodeTable final : public CodeExecution {
  public:
    using CodeExecution::CodeExecution;

    void onExecute() override {
        const auto& results = params<CodeTableParams>().results;
        forElements(pool(), out().elements(), [&](long begin, long end) {
            for (long i = begin; i < end; ++i) outData<uint8_t>()[i] = results[inData<uint8_t>(0)[i]];
        });
    }
};

// Over the channels of a picture, else over the last axis. The result's scale is 1/256.
class CodeSoftmax final : public CodeExecution {
  public:
    using CodeExecution::CodeExecution;

    void onExecute() override {
        const Shape& shape = in(0).shape;
        const int axis = in(0).format == Format::NC4HW4 && shape.rank() > 1 ? 1 : shape.rank() - 1;
        const int64_t length = shape[axis], inner = shape.elements(axis + 1, shape.rank());
        const auto& powers = params<CodeSoftmaxParams>().powers;
        forRows(pool(), out().elements() / length, length, [&](long begin, long end) {
            for (long row = begin; row < end; ++row) {
                const int64_t at = row / inner * length * inner + row % inner;
                const uint8_t* x = inData<uint8_t>(0) + at;
                uint8_t* y = outData<uint8_t>() + at;
                uint8_t most = 0;
                for (int64_t i = 0; i < length; ++i) most = std::max(most, x[i * inner]);
                float sum = 0;
                for (int64_t i = 0; i < length; ++i) sum += powers[static_cast<size_t>(most - x[i * inner])];
                for (int64_t i = 0; i < length; ++i) {
                    const float part = powers[static_cast<size_t>(most - x[i * inner])] / sum;
                    y[i * inner] = static_cast<uint8_t>(std::min(std::round(part * 256), 255.0f));
                }
            }
        });
    }
};

template <typename E>
std::unique_ptr<Execution> createCode(CpuBackend& backend, const Command& command, std::string&) {
    return std::make_unique<E>(backend, command);
}

}  // namespace

CpuFamily uint8Cpu() {
    static constexpr CpuOp kOps[] = {
        {OpType::TfQuantizedConv2D, nullptr, createCode<CodeConv>},
        {OpType::QuantizedDepthwiseConv2D, nullptr, createCode<CodeConv>},
        {OpType::QuantizedAvgPool, nullptr, createCode<CodePool>},
        {OpType::QuantizedMaxPool, nullptr, createCode<CodePool>},
        {OpType::QuantizedAdd, nullptr, createCode<CodeAdd>},
        {OpType::QuantizedLogistic, nullptr, createCode<CodeTable>},
        {OpType::QuantizedSoftmax, nullptr, createCode<CodeSoftmax>},
    };
    return kOps;
}

}  // namespace mnnc::cpu
