// Deconvolution between int8 tensors: with stride s each of the s x s phases of the output is an ordinary convolution
// of the input. All phases become the channels of one convolution, whose results are then interleaved. The weights of a
// phase and channel have their own scale.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/int8/int8_conv.h"
#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "backends/cpu/ops/conv_shape.h"
#include "backends/cpu/ops/int8.h"
#include "model/int8_limits.h"

namespace mnnc::cpu {

namespace {

constexpr int64_t kMaxPhases = 64;
constexpr int64_t kMaxChannels = 1 << 20;

// One axis: output position y belongs to phase (y + pad) % stride, at position (y + pad) / stride - first of that
// phase.
struct PhaseAxis {
    int64_t stride = 1, pad = 0, kernel = 1, in = 1, out = 1;

    int64_t taps() const { return ceilDiv(kernel, stride); }
    int64_t first() const { return pad / stride; }
    int64_t length() const { return (out - 1 + pad) / stride - first() + 1; }
};

struct Phases {
    PhaseAxis y, x;
    int64_t count() const { return y.stride * x.stride; }
};

Phases phasesOf(const ConvWindow& w, const ConvParams& params) {
    return {{params.strideY, w.padTop, w.kh, w.ih, w.oh}, {params.strideX, w.padLeft, w.kw, w.iw, w.ow}};
}

ConvShape phaseShape(const ConvWindow& w, const Phases& p, int64_t channels) {
    ConvShape s;
    s.batch = static_cast<int>(w.batch);
    s.ic = static_cast<int>(w.ic), s.ih = static_cast<int>(w.ih), s.iw = static_cast<int>(w.iw);
    s.oc = static_cast<int>(channels);
    s.oh = static_cast<int>(p.y.length()), s.ow = static_cast<int>(p.x.length());
    s.kh = static_cast<int>(p.y.taps()), s.kw = static_cast<int>(p.x.taps());
    s.padTop = static_cast<int>(p.y.taps() - 1 - p.y.first());
    s.padLeft = static_cast<int>(p.x.taps() - 1 - p.x.first());
    return s;
}

class Int8Deconvolution final : public Execution {
  public:
    Int8Deconvolution(CpuBackend& backend, const Command& command)
        : backend_(backend), command_(command), params_(command.paramsAs<ConvParams>()) {}

    void prepare() override {
        plan_.reset();
        if (command_.outputs[0]->empty()) return;
        window_ = windowOf(command_);
        phases_ = phasesOf(window_, params_);
        eachPhase_ = roundUp(window_.oc, int64_t{backend_.kernels().lanes});  // whole blocks
        channels_ = phases_.count() * eachPhase_;
        plan_ = makeInt8ConvPlan(backend_.kernels(), phaseShape(window_, phases_, channels_), {});
        prepareWeights();
        preparePost();
        planScratch_ = roundUp(plan_->scratchBytes(backend_.planningPool().threads()), 64);
        const int64_t plane = checkedMul(phases_.y.length(), phases_.x.length(), "scratch");
        requestScratch(checkedAdd(
            planScratch_, checkedMul(checkedMul(plane, channels_, "scratch"), window_.batch, "scratch"), "scratch"));
    }

    std::string algorithm() const override { return plan_ ? "int8 deconv " + plan_->algorithm().substr(5) : ""; }

    void run(const Frame& frame) const override {
        if (!plan_) return;
        auto* results = static_cast<int8_t*>(frame.scratch()) + planScratch_;
        plan_->run(frame.data<const int8_t>(*command_.inputs[0]), stored_.get(), results, nullptr, post_,
                   frame.scratch(), frame.pool());
        const int64_t rows = window_.batch * (eachPhase_ / backend_.kernels().lanes) * window_.oh;
        parallelRanges(frame.pool(), static_cast<int64_t>(rows), 4 * frame.pool().threads(),
                       [&](int64_t begin, int64_t end) {
                           for (int64_t row = begin; row < end; ++row) {
                               switch (backend_.kernels().lanes) {
                                   case 16:
                                       mixRow<16>(frame, results, row);
                                       break;
                                   case 8:
                                       mixRow<8>(frame, results, row);
                                       break;
                                   default:
                                       mixRow<4>(frame, results, row);
                               }
                           }
                       });
    }

  private:
    // Arrays behind the packed codes, with an element for each of channels_.
    struct Tail {
        int32_t* sums;
        float* scale;
    };
    Tail tailOf(const void* buffer) const {
        auto* at = static_cast<char*>(const_cast<void*>(buffer)) + roundUp(plan_->packedWeightBytes(), 64);
        auto* sums = reinterpret_cast<int32_t*>(at);
        return {sums, reinterpret_cast<float*>(sums + channels_)};
    }

    void prepareWeights() {
        const char* name = command_.name.c_str();
        const ConvWindow& w = window_;
        const std::string variant = "deconv/" + plan_->weightVariant();
        const int64_t bytes = checkedAdd(roundUp(plan_->packedWeightBytes(), 64),
                                         checkedMul(channels_, 8, "packed weights"), "packed weights");
        stored_ = backend_.weights(
            command_.params, variant, bytes,
            [&](void* buffer) {
                const FloatView weights = params_.weights(w.weightCount, w.oc, name);
                const int64_t each = w.ic * phases_.y.taps() * phases_.x.taps();
                std::vector<int8_t> codes(static_cast<size_t>(checkedMul(channels_, each, "packed weights")));
                const Tail tail = tailOf(buffer);
                for (int64_t c = 0; c < channels_; ++c) {
                    tail.sums[c] = 0;
                    tail.scale[c] = 1;
                    if (c % eachPhase_ < w.oc) makeCodes(weights, c, codes.data() + c * each, tail);
                }
                plan_->packQuantized({codes, {}, {}}, buffer, backend_.planningPool());
            },
            params_.modelBytes());
    }

    // Quantises the weights of channel c of the phases: [ic][kh][kw], the taps in the order of the input.
    void makeCodes(const FloatView& weights, int64_t c, int8_t* codes, const Tail& tail) const {
        const ConvWindow& w = window_;
        const int64_t phase = c / eachPhase_, o = c % eachPhase_, ry = phase / phases_.x.stride,
                      rx = phase % phases_.x.stride, th = phases_.y.taps(), tw = phases_.x.taps();
        const auto weightAt = [&](int64_t i, int64_t u, int64_t v) {
            const int64_t ky = ry + phases_.y.stride * (th - 1 - u), kx = rx + phases_.x.stride * (tw - 1 - v);
            if (ky >= w.kh || kx >= w.kw) return 0.0f;
            return weights[static_cast<size_t>(((i * w.oc + o) * w.kh + ky) * w.kw + kx)];
        };
        float largest = 0;
        for (int64_t i = 0; i < w.ic; ++i)
            for (int64_t u = 0; u < th; ++u)
                for (int64_t v = 0; v < tw; ++v) largest = std::max(largest, std::fabs(weightAt(i, u, v)));
        const float scale = largest > 0 && std::isfinite(largest) ? largest / 127 : 1;
        int32_t sum = 0;
        for (int64_t i = 0; i < w.ic; ++i)
            for (int64_t u = 0; u < th; ++u)
                for (int64_t v = 0; v < tw; ++v) {
                    const float code = std::round(weightAt(i, u, v) / scale);
                    *codes = static_cast<int8_t>(code > -127 ? std::min(code, 127.0f) : -127.0f);
                    sum += *codes++;
                }
        tail.sums[c] = sum;
        tail.scale[c] = scale;
    }

    void preparePost() {
        const TensorQuant in = quantOf(*command_.inputs[0]), out = quantOf(*command_.outputs[0]);
        const FloatView bias = params_.bias(window_.oc, command_.name.c_str());
        const Tail tail = tailOf(stored_.get());
        const float zeroOut = std::round(out.zero), zeroIn = std::trunc(in.zero);
        offset_.assign(static_cast<size_t>(channels_), 0);
        for (int64_t c = 0; c < channels_; ++c) {
            const int64_t o = c % eachPhase_;
            if (o >= window_.oc) continue;
            const float all = static_cast<float>(tail.sums[c]) * tail.scale[c];
            offset_[static_cast<size_t>(c)] =
                (bias[static_cast<size_t>(o)] - all * (zeroIn + 128) * in.scale) / out.scale + zeroOut;
        }
        post_ = {};
        post_.scale = tail.scale;
        post_.offset = offset_.data();
        post_.ratio = in.scale / out.scale;
        post_.lo = std::ceil(out.min);
        post_.hi = std::floor(out.max);
        if (command_.epilogue.lo == 0) post_.lo = std::max(post_.lo, zeroOut);
        // A ReLU6 ends at 6.
        if (std::isfinite(command_.epilogue.hi))
            post_.hi = std::min(post_.hi, std::round(command_.epilogue.hi / out.scale + zeroOut));
        post_.hi = std::max(post_.hi, post_.lo);
        post_.padding = static_cast<int>(zeroIn);
        post_.findBound(offset_.size(), window_.ic * phases_.y.taps() * phases_.x.taps());
    }

    // Writes one output row of one block, a phase after the other.
    template <int P>
    void mixRow(const Frame& frame, const int8_t* results, int64_t row) const {
        const PhaseAxis &ay = phases_.y, &ax = phases_.x;
        const int64_t blocks = eachPhase_ / P, y = row % ay.out, block = row / ay.out % blocks,
                      n = row / ay.out / blocks, plane = ay.length() * ax.length();
        const int64_t fromY = (y + ay.pad) / ay.stride - ay.first(), phaseY = (y + ay.pad) % ay.stride;
        int8_t* to = frame.data<int8_t>(*command_.outputs[0]) + row * ax.out * P;
        for (int64_t phaseX = 0; phaseX < ax.stride; ++phaseX) {
            const int64_t phase = phaseY * ax.stride + phaseX;
            const int8_t* from =
                results + (((n * phases_.count() + phase) * blocks + block) * plane + fromY * ax.length()) * P;
            int64_t x = phaseX - ax.pad % ax.stride,
                    at = 0;  // the first position of the phase that lies on the output
            if (x < 0) x += ax.stride, at = 1;
            for (; x < ax.out; x += ax.stride, ++at) std::memcpy(to + x * P, from + at * P, P);
        }
    }

    CpuBackend& backend_;
    Command command_;
    const ConvParams& params_;
    ConvWindow window_;
    Phases phases_;
    int64_t eachPhase_ = 0, channels_ = 0, planScratch_ = 0;
    std::unique_ptr<Int8ConvPlan> plan_;
    PackedWeights stored_;
    std::vector<float> offset_;
    Int8Post post_;
};

}  // namespace

bool quantizesDeconvolution(const Command& command) {
    const auto* params = command.paramsIf<ConvParams>();
    const Operand &in = *command.inputs[0], &out = *command.outputs[0];
    const Epilogue& e = command.epilogue;
    if (!params || command.type != OpType::Deconvolution || command.operands() != 1 || !params->parts.empty() ||
        params->int8.floatOutput || params->dilateX != 1 || params->dilateY != 1 || e.residual || e.act != Act::None ||
        (e.any() && e.lo != 0) || in.format == Format::NHWC || out.format == Format::NHWC || in.shape.rank() != 4 ||
        in.empty() || out.empty())
        return false;
    const ConvWindow w = windowOf(command);
    if (w.groups != 1 || w.padTop < 0 || w.padLeft < 0) return false;
    // Float weights are not quantised here.
    if (!params->quantizedForm(w.weightCount, w.oc, command.name.c_str())) return false;
    const Phases p = phasesOf(w, *params);
    // With phases without a tap, the codes would be many times larger than the weights.
    return p.count() <= kMaxPhases && w.kh >= p.y.stride && w.kw >= p.x.stride && w.oc <= kMaxChannels / kMaxPhases &&
           w.ic * p.y.taps() * p.x.taps() <= kMaxInt8Terms;
}

std::unique_ptr<Execution> createInt8Deconvolution(CpuBackend& backend, const Command& command, std::string& reason) {
    if (command.outputs[0]->type != DataType::Int8 || !quantizesDeconvolution(command))
        return refuse(reason, format("op '%s': such a deconvolution of int8 is not implemented", command.name.c_str()));
    return std::make_unique<Int8Deconvolution>(backend, command);
}

}  // namespace mnnc::cpu
