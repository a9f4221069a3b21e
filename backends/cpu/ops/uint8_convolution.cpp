// Convolutions over TFLite's unsigned codes, with the results of its reference kernels (ConvPerLayer): taps outside of
// the picture add nothing, sums have 32 bits and wrap. Dense ones use the products of int8 convolutions.
#include "backends/cpu/ops/uint8_convolution.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/int8/int8_conv.h"
#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/conv_shape.h"
#include "backends/cpu/ops/split.h"
#include "ops/uint8.h"

namespace mnnc::cpu {

namespace {

constexpr int64_t kRun = 256;  // pixels at a time, so that lines stay in the cache

ConvWindow windowOfCodes(const CodeConvParams& params, const Command& command) {
    ConvWindow w = convWindow(OpType::Convolution, params.window, command.inputs[0]->shape, nullptr, nullptr,
                              command.name.c_str());
    if (params.window.padMode == ConvPad::Same) {  // TFLite never skips rows
        w.padTop = std::max<int64_t>(w.padTop, 0);
        w.padLeft = std::max<int64_t>(w.padLeft, 0);
    }
    return w;
}

uint8_t resultOf(const CodeConvParams& params, uint32_t sum) {
    return clampCode(params.range, int64_t{params.factor.times(static_cast<int32_t>(sum))} + params.zeroOut);
}

// With codes x and weights w, zero points zx and zw, w' = w - 128 and K taps: sum((x - zx) (w - zw)) = sum(x w') + (128
// - zw) sum(x) - zx sum(w') - (128 - zw) K zx. The products give sum(x w'), and sum(x) by an additional output channel
// whose weights are 1. Taps outside of the picture read zx. All is modulo 2^32.
class CodeConv final : public CommandExecution {
  public:
    CodeConv(CpuBackend& backend, const Command& command) : CommandExecution(command), backend_(backend) {}

    void prepare() override {
        plan_.reset();
        if (out().empty()) return;
        const auto& p = params<CodeConvParams>();
        window_ = windowOfCodes(p, command());
        const ConvWindow& w = window_;
        const int64_t lanes = backend_.kernels().lanes;
        ConvShape shape = planShape(w, p.window);
        shape.oc = static_cast<int>(checkedAdd(w.oc, 1, "output channels"));
        inBlocks_ = ceilDiv(w.ic, lanes);
        outBlocks_ = ceilDiv(w.oc + 1, lanes);
        plan_ = makeInt8ConvPlan(backend_.kernels(), shape, {});
        prepareWeights();
        planScratch_ = roundUp(plan_->scratchBytes(backend_.planningPool().threads()), 64);
        const auto bytesOf = [&](int64_t blocks, int64_t plane, int64_t each) {
            const int64_t all = checkedMul(checkedMul(w.batch, blocks, "scratch"), lanes * each, "scratch");
            return roundUp(checkedMul(all, plane, "scratch"), 64);
        };
        packedBytes_ = bytesOf(inBlocks_, w.ih * w.iw, 1);
        requestScratch(checkedAdd(checkedAdd(planScratch_, packedBytes_, "scratch"),
                                  bytesOf(outBlocks_, w.oh * w.ow, 4), "scratch"));
    }

    void run(const Frame& frame) const override {
        if (!plan_) return;
        auto* memory = static_cast<char*>(frame.scratch());
        auto* packed = reinterpret_cast<int8_t*>(memory + planScratch_);
        auto* sums = reinterpret_cast<int32_t*>(memory + planScratch_ + packedBytes_);
        ThreadPool& pool = frame.pool();
        const ConvWindow& w = window_;
        const int64_t lanes = backend_.kernels().lanes;
        forRows(pool, w.batch * inBlocks_, w.ih * w.iw * lanes, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) packBlock(frame, i / inBlocks_, i % inBlocks_, packed);
        });
        plan_->runSums(packed, stored_.get(), sums, params<CodeConvParams>().zeroIn - 128, memory, pool);
        forRows(pool, w.batch * ceilDiv(w.oc, lanes), w.oh * w.ow * lanes, [&](int64_t begin, int64_t end) {
            const int64_t blocks = ceilDiv(w.oc, lanes);
            for (int64_t i = begin; i < end; ++i) finishBlock(frame, i / blocks, i % blocks, sums);
        });
    }

    std::string algorithm() const override { return plan_ ? plan_->algorithm() : ""; }

  private:
    // Weights are stored as [tap][input channel][output channel].
    void prepareWeights() {
        const auto& p = params<CodeConvParams>();
        const ConvWindow& w = window_;
        const int64_t taps = w.kh * w.kw, each = w.ic * taps;
        constants_.assign(static_cast<size_t>(w.oc), 0);
        const auto codeAt = [&](int64_t o, int64_t c, int64_t tap) {
            return int{p.weights[static_cast<size_t>((tap * w.ic + c) * w.oc + o)]} - 128;
        };
        const auto zeroIn = static_cast<uint32_t>(p.zeroIn);
        const auto shift = static_cast<uint32_t>(128 - p.zeroWeight);
        for (int64_t o = 0; o < w.oc; ++o) {
            uint32_t sum = 0;
            for (int64_t tap = 0; tap < taps; ++tap)
                for (int64_t c = 0; c < w.ic; ++c) sum += static_cast<uint32_t>(codeAt(o, c, tap));
            constants_[static_cast<size_t>(o)] = static_cast<uint32_t>(p.bias[static_cast<size_t>(o)]) - zeroIn * sum -
                                                 shift * static_cast<uint32_t>(each) * zeroIn;
        }
        const auto fill = [&](void* buffer) {
            std::vector<int8_t> codes(static_cast<size_t>(checkedMul(w.oc + 1, each, "packed weights")), 1);
            for (int64_t o = 0; o < w.oc; ++o)
                for (int64_t c = 0; c < w.ic; ++c)
                    for (int64_t tap = 0; tap < taps; ++tap)
                        codes[static_cast<size_t>((o * w.ic + c) * taps + tap)] =
                            static_cast<int8_t>(codeAt(o, c, tap));
            plan_->packQuantized({codes, {}, {}}, buffer, backend_.planningPool());
        };
        stored_ =
            backend_.weights(command().params, "uint8/" + plan_->weightVariant(), plan_->packedWeightBytes(), fill);
    }

    void packBlock(const Frame& frame, int64_t n, int64_t block, int8_t* packed) const {
        const ConvWindow& w = window_;
        const int64_t lanes = backend_.kernels().lanes, plane = w.ih * w.iw, first = block * lanes,
                      real = std::min(lanes, w.ic - first);
        const uint8_t* from = inData<uint8_t>(frame, 0) + (n * w.ic + first) * plane;
        int8_t* to = packed + (n * inBlocks_ + block) * plane * lanes;
        for (int64_t begin = 0; begin < plane; begin += kRun)
            for (int64_t lane = 0; lane < real; ++lane)
                for (int64_t i = begin; i < std::min(plane, begin + kRun); ++i)
                    to[i * lanes + lane] = static_cast<int8_t>(int{from[lane * plane + i]} - 128);
    }

    void finishBlock(const Frame& frame, int64_t n, int64_t block, const int32_t* sums) const {
        const auto& p = params<CodeConvParams>();
        const ConvWindow& w = window_;
        const int64_t lanes = backend_.kernels().lanes, plane = w.oh * w.ow, first = block * lanes,
                      real = std::min(lanes, w.oc - first);
        const int32_t* image = sums + n * outBlocks_ * plane * lanes;
        const int32_t* from = image + block * plane * lanes;
        const int32_t* ones = image + w.oc / lanes * plane * lanes + w.oc % lanes;
        uint8_t* to = outData<uint8_t>(frame) + (n * w.oc + first) * plane;
        const auto shift = static_cast<uint32_t>(128 - p.zeroWeight);
        for (int64_t begin = 0; begin < plane; begin += kRun)
            for (int64_t lane = 0; lane < real; ++lane) {
                const uint32_t constant = constants_[static_cast<size_t>(first + lane)];
                for (int64_t i = begin; i < std::min(plane, begin + kRun); ++i) {
                    const uint32_t sum = static_cast<uint32_t>(from[i * lanes + lane]) + constant +
                                         shift * static_cast<uint32_t>(ones[i * lanes]);
                    to[lane * plane + i] = resultOf(p, sum);
                }
            }
    }

    CpuBackend& backend_;
    ConvWindow window_;
    std::unique_ptr<Int8SumPlan> plan_;
    PackedWeights stored_;
    std::vector<uint32_t> constants_;
    int64_t inBlocks_ = 0, outBlocks_ = 0, planScratch_ = 0, packedBytes_ = 0;
};

// Computes a plane at a time, by rows of sums.
class CodeDepthwise final : public CommandExecution {
  public:
    explicit CodeDepthwise(const Command& command) : CommandExecution(command) {}

    void prepare() override { window_ = windowOfCodes(params<CodeConvParams>(), command()); }

    void run(const Frame& frame) const override {
        const ConvWindow& w = window_;
        forRows(frame.pool(), w.batch * w.oc, w.oh * w.ow * w.kh * w.kw, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i)
                for (int64_t y = 0; y < w.oh; ++y)
                    for (int64_t x = 0; x < w.ow; x += kRun) makeRun(frame, i / w.oc, i % w.oc, y, x);
        });
    }

  private:
    void makeRun(const Frame& frame, int64_t n, int64_t o, int64_t oy, int64_t begin) const {
        const auto& p = params<CodeConvParams>();
        const ConvWindow& w = window_;
        const int64_t count = std::min(kRun, w.ow - begin), step = p.window.strideX;
        const uint8_t* plane = inData<uint8_t>(frame, 0) + (n * w.ic + o / p.depthMultiplier) * w.ih * w.iw;
        uint32_t sums[kRun];
        std::fill_n(sums, count, static_cast<uint32_t>(p.bias[static_cast<size_t>(o)]));
        for (int64_t ky = 0; ky < w.kh; ++ky) {
            const int64_t y = oy * p.window.strideY - w.padTop + ky * p.window.dilateY;
            if (y < 0 || y >= w.ih) continue;
            for (int64_t kx = 0; kx < w.kw; ++kx) {
                const int weight = p.weights[static_cast<size_t>((ky * w.kw + kx) * w.oc + o)] - p.zeroWeight;
                // These are the outputs whose tap lies on the picture: 0 <= x0 + i * step < width.
                const int64_t x0 = begin * step - w.padLeft + kx * p.window.dilateX;
                const int64_t first = x0 < 0 ? ceilDiv(-x0, step) : 0,
                              last = std::min(count, x0 < w.iw ? (w.iw - 1 - x0) / step + 1 : 0);
                const uint8_t* source = plane + y * w.iw;
                if (step == 1)
                    for (int64_t i = first; i < last; ++i)
                        sums[i] += static_cast<uint32_t>((source[x0 + i] - p.zeroIn) * weight);
                else
                    for (int64_t i = first; i < last; ++i)
                        sums[i] += static_cast<uint32_t>((source[x0 + i * step] - p.zeroIn) * weight);
            }
        }
        uint8_t* to = outData<uint8_t>(frame) + ((n * w.oc + o) * w.oh + oy) * w.ow + begin;
        for (int64_t i = 0; i < count; ++i) to[i] = resultOf(p, sums[i]);
    }

    ConvWindow window_;
};

}  // namespace

std::unique_ptr<Execution> createUint8Convolution(CpuBackend& backend, const Command& command, std::string&) {
    if (command.paramsAs<CodeConvParams>().depthwise) return std::make_unique<CodeDepthwise>(command);
    return std::make_unique<CodeConv>(backend, command);
}

}  // namespace mnnc::cpu
