// ConvInt8 and DepthwiseConvInt8: between int8 tensors with scales of their own, and in the two older forms, where the
// operator has the scales, or has them folded into an integer bias and a factor (isFolded). Roundings follow the order
// of the reference.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/int8/int8_conv.h"
#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "backends/cpu/ops/conv_shape.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/int8.h"
#include "model/int8_limits.h"

namespace mnnc::cpu {

namespace {

struct Steps {
    float scaleIn = 1, scaleOut = 1;
    int zeroIn = 0;
    float zeroOut = 0, lo = -128, hi = 127;
};

int32_t toInt32(float value) {
    constexpr float kLimit = 1 << 30;
    return static_cast<int32_t>(std::trunc(value > -kLimit ? std::min(value, kLimit) : -kLimit));
}

int32_t clampInt32(int64_t value) {
    return static_cast<int32_t>(
        std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

class Int8ConvExecution final : public Execution {
  public:
    Int8ConvExecution(CpuBackend& backend, const Command& command)
        : backend_(backend), command_(command), params_(command.paramsAs<ConvParams>()) {}

    void prepare() override {
        plan_.reset();
        if (command_.outputs[0]->empty()) return;
        const ConvWindow w = windowOf(command_);
        const Kernels& kernels = backend_.kernels();
        depthwise_ = isDepthwise(command_.type);
        plan_ = depthwise_ ? makeInt8DepthwisePlan(kernels, planShape(w, params_))
                           : makeInt8ConvPlan(kernels, planShape(w, params_),
                                              {static_cast<int>(w.groups), command_.inputs[0]->channelBlock == 1,
                                               hasMinima(), command_.inputs[0]->quant.nonNegative});
        padded_ = roundUp(w.oc, int64_t{kernels.lanes});
        prepareWeights(w);
        prepareSteps(w);
        requestScratch(plan_->scratchBytes(backend_.planningPool().threads()));
    }

    std::string algorithm() const override { return plan_ ? plan_->algorithm() : ""; }

    void run(const Frame& frame) const override {
        if (!plan_) return;
        Operand& out = *command_.outputs[0];
        const bool floats = out.type == DataType::Float32;
        plan_->run(frame.data<const int8_t>(*command_.inputs[0]), stored_.get(),
                   floats ? nullptr : frame.data<int8_t>(out), floats ? frame.data<float>(out) : nullptr, post_,
                   frame.scratch(), frame.pool());
    }

  private:
    // Returns whether the integer bias and the factor contain scales and zero points.
    bool isFolded() const { return params_.int8.folded && !command_.inputs[0]->quant.known(); }
    // Returns whether an int8 result is clipped at zero. The 6 of a ReLU6 is the end of the result's range, as in the
    // reference.
    bool clipsAtZero() const { return command_.epilogue.lo == 0; }
    bool hasMinima() const { return params_.int8.minima && !depthwise_ && !isFolded(); }

    // Arrays with an element per output channel, behind the packed codes.
    struct Tail {
        int32_t* sums;  // of the codes
        float* scale;
        float* min;
    };
    Tail tailOf(const void* buffer) const {
        auto* at = static_cast<char*>(const_cast<void*>(buffer)) + roundUp(plan_->packedWeightBytes(), 64);
        auto* sums = reinterpret_cast<int32_t*>(at);
        auto* scale = reinterpret_cast<float*>(sums + padded_);
        return {sums, scale, scale + padded_};
    }

    void prepareWeights(const ConvWindow& w) {
        const char* name = command_.name.c_str();
        // The same operator over another number of channels has other groups, so the key contains their number.
        const std::string variant = plan_->weightVariant() + "/" + std::to_string(w.groups);
        const int64_t bytes = checkedAdd(roundUp(plan_->packedWeightBytes(), 64),
                                         checkedMul(padded_, 12, "packed weights"), "packed weights");
        const auto fill = [&](void* buffer) {
            const QuantizedWeights codes = params_.quantizedWeights(w.weightCount, w.oc, name);
            if (codes.blocksPerOutput != 1)
                fail(Status::NotSupported, "op '%s' has %lld scales per output channel, 1 is needed", name,
                     asLong(codes.blocksPerOutput));
            plan_->packQuantized({codes.q, codes.scale, codes.min}, buffer, backend_.planningPool());
            const Tail tail = tailOf(buffer);
            const auto each = static_cast<size_t>(w.weightCount / w.oc);
            for (size_t o = 0; o < static_cast<size_t>(padded_); ++o) {
                const bool real = o < static_cast<size_t>(w.oc);
                int32_t sum = 0;
                for (size_t i = 0; real && i < each; ++i) sum += codes.q[o * each + i];
                tail.sums[o] = sum;
                tail.scale[o] = real ? codes.scale[o] : 1;
                tail.min[o] = real && !codes.min.empty() ? codes.min[o] : 0;
            }
        };
        stored_ = backend_.weights(command_.params, variant, bytes, fill, params_.modelBytes());
    }

    Steps steps() const {
        const Operand &in = *command_.inputs[0], &out = *command_.outputs[0];
        const ConvInt8Info& info = params_.int8;
        Steps s;
        if (in.quant.known() && (out.quant.known() || info.floatOutput)) {
            s.scaleIn = in.quant.scale;
            s.zeroIn = static_cast<int>(in.quant.zero);
            s.scaleOut = out.quant.scale;
            s.zeroOut = std::round(out.quant.zero);
            s.lo = std::ceil(out.quant.min);
            s.hi = std::floor(out.quant.max);
        } else {
            s.scaleIn = info.scaleIn;
            s.zeroIn = info.zeroIn;
            s.scaleOut = info.scaleOut;
            s.zeroOut = static_cast<float>(info.zeroOut);
            s.lo = static_cast<float>(info.min);
            s.hi = static_cast<float>(info.max);
        }
        if (info.floatOutput) {
            s.scaleOut = 1;
            s.zeroOut = 0;
        }
        const auto usable = [](float scale) { return scale > 0 && std::isfinite(scale); };
        if (!usable(s.scaleIn) || !usable(s.scaleOut))
            fail(Status::BadParameter, "op '%s' has int8 scales of %g and %g, positive ones are needed",
                 command_.name.c_str(), static_cast<double>(s.scaleIn), static_cast<double>(s.scaleOut));
        return s;
    }

    void prepareSteps(const ConvWindow& w) {
        const Tail tail = tailOf(stored_.get());
        const auto count = static_cast<size_t>(padded_);
        const auto channels = static_cast<size_t>(w.oc);
        scale_.assign(count, 1);
        offset_.assign(count, 0);
        bias_.assign(count, 0);
        post_ = {};
        if (isFolded())
            foldedSteps(tail, channels);
        else
            ownSteps(tail, channels, w);
        if (params_.int8.floatOutput) {
            post_.lo = command_.epilogue.lo;
            post_.hi = command_.epilogue.hi;
        }
        post_.scale = scale_.data();
        post_.offset = offset_.data();
        post_.bias = bias_.data();
        post_.findBound(count, w.weightCount / w.oc);
    }

    void foldedSteps(const Tail& tail, size_t channels) {
        const FoldedScales folded = params_.foldedScales(static_cast<int64_t>(channels), command_.name.c_str());
        const ConvInt8Info& info = params_.int8;
        post_.padding = info.zeroIn;
        post_.lo = static_cast<float>(clipsAtZero() ? std::max(info.zeroOut, info.min) : info.min);
        post_.hi = static_cast<float>(info.max);
        for (size_t o = 0; o < channels; ++o) {
            scale_[o] = folded.scale[o];
            bias_[o] = clampInt32(int64_t{folded.bias[o]} - int64_t{128} * tail.sums[o]);
            offset_[o] =
                static_cast<float>(folded.bias[o]) * scale_[o] - static_cast<float>(tail.sums[o]) * scale_[o] * 128.0f;
        }
    }

    void ownSteps(const Tail& tail, size_t channels, const ConvWindow& w) {
        const Steps s = steps();
        const FloatView bias = params_.bias(w.oc, command_.name.c_str());
        const int64_t each = w.weightCount / w.oc;
        const auto terms = static_cast<float>(each);
        const float ratio = s.scaleIn / s.scaleOut, zeroIn = static_cast<float>(s.zeroIn + 128);
        post_.padding = s.zeroIn;
        post_.lo = clipsAtZero() ? std::max(s.zeroOut, s.lo) : s.lo;
        post_.hi = s.hi;
        post_.ratio = ratio;
        for (size_t o = 0; o < channels; ++o) {
            const float sum = static_cast<float>(tail.sums[o]), scale = tail.scale[o];
            if (depthwise_) {
                const float positive = std::max(scale, 1e-6f), factor = positive * ratio;
                scale_[o] = factor;
                bias_[o] = clampInt32(int64_t{toInt32(bias[o] / (s.scaleIn * positive))} +
                                      int64_t{toInt32(s.zeroOut / factor)} - int64_t{s.zeroIn + 128} * tail.sums[o]);
            } else {
                const float all = sum * scale + terms * tail.min[o];
                scale_[o] = scale;
                offset_[o] = (bias[o] - all * zeroIn * s.scaleIn) / s.scaleOut + s.zeroOut;
            }
        }
        if (hasMinima()) post_.min = tail.min;
    }

    CpuBackend& backend_;
    Command command_;
    const ConvParams& params_;
    bool depthwise_ = false;
    std::unique_ptr<Int8ConvPlan> plan_;
    PackedWeights stored_;
    int64_t padded_ = 0;
    std::vector<float> scale_, offset_;
    std::vector<int32_t> bias_;
    Int8Post post_;
};

static_assert(kMaxInt8LineBytes <= kInt8LineBytes, "the kernels hold the lines that the limits allow");

// Returns why the kernels do not take the command; empty: they do.
std::string objection(const Command& command) {
    const auto* params = command.paramsIf<ConvParams>();
    if (!params || command.operands() != 1 || !params->parts.empty())
        return "its weights are not those of one operator";
    if (!params->int8.codes) return "its weights are not int8 codes with one scale per output channel";
    const Operand &in = *command.inputs[0], &out = *command.outputs[0];
    if (in.format == Format::NHWC || out.format == Format::NHWC || in.shape.rank() < 2)
        return "its channels do not come first";
    if (in.empty() || out.empty()) return "";
    const ConvWindow w = windowOf(command);
    const bool depthwise = isDepthwise(command.type);
    if (depthwise && params->int8.floatOutput) return "its depthwise result stays float";
    const char* limit =
        int8Objection({depthwise, params->int8.minima, w.groups, w.weightCount / w.oc, w.kw, w.kh, params->dilateX});
    return limit ? limit : "";
}

// Returns whether the epilogue is a ReLU or ReLU6; int8 convolutions of files have no other.
bool takesEpilogue(const Command& command) {
    const Epilogue& e = command.epilogue;
    const bool relu = e.lo == 0 && (e.hi == 6 || e.hi == std::numeric_limits<float>::infinity());
    return !e.any() || (relu && e.act == Act::None && !e.residual);
}

StorageChoice int8ConvolutionStorage(const CpuBackend& backend, const Command& command) {
    StorageChoice choice;
    choice.inputBlock = choice.outputBlock = backend.channelBlock();
    const Operand& x = *command.inputs[0];
    if (x.channelBlock == 1 && !isDepthwise(command.type) && !x.empty() && !command.outputs[0]->empty()) {
        const ConvWindow w = windowOf(command);
        if (w.groups == 1 && w.ic <= 4) choice.inputBlock = 1;
    }
    return choice;
}

std::unique_ptr<Execution> createInt8Convolution(CpuBackend& backend, const Command& command, std::string& reason) {
    const std::string why = objection(command);
    if (!why.empty()) return refuse(reason, format("op '%s': int8 convolution: %s", command.name.c_str(), why.c_str()));
    return std::make_unique<Int8ConvExecution>(backend, command);
}

}  // namespace

bool quantizesConvolution(const Command& command) {
    return takesEpilogue(command) && !command.paramsAs<ConvParams>().int8.floatOutput && objection(command).empty();
}

constexpr CpuOp kInt8ConvolutionCpu[] = {
    {OpType::ConvInt8, int8ConvolutionStorage, createInt8Convolution},
    {OpType::DepthwiseConvInt8, int8ConvolutionStorage, createInt8Convolution},
};
extern constinit const CpuFamily int8ConvolutionCpu = kInt8ConvolutionCpu;

}  // namespace mnnc::cpu
