// Packs the weights that a model stores for the plan of a convolution, once for all sessions.
#include "backends/cpu/ops/packed_conv_weights.h"

#include <algorithm>

#include "backends/cpu/kernels/conv/measure_conv.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "model/model.h"

namespace mnnc::cpu {

namespace {

// Reads the weights that a model stores.
class ModelWeights final : public QuantizedWeightReader {
  public:
    ModelWeights(const ConvParams& params, const ConvWindow& w, const char* name)
        : params_(params), source_(params.quantizedSource(w.weightCount, w.oc, name)), each_(w.weightCount / w.oc) {}

    QuantizedWeightsView read(int first, int count) override {
        announce(count);
        const QuantizedSource::Part part = source_.part(first, count);
        return {part.codes, part.scales, part.minima};
    }
    StoredWeightsView readStored(int first, int count, int bits) override {
        announce(count);
        const QuantizedSource::Part part = source_.storedPart(first, count, bits);
        return {part.stored, part.scales, part.minima};
    }

  private:
    void announce(int count) const {
        if (params_.model) params_.model->readingWeights(each_ * count);
    }

    const ConvParams& params_;
    QuantizedSource source_;
    const int64_t each_;
};

}  // namespace

ConvOptions convOptions(const CpuBackend& backend, const Command& command, const ConvWindow& w) {
    ConvOptions options;
    options.groups = static_cast<int>(w.groups);  // convWindow has checked the range
    options.threads = backend.planningPool().threads();
    options.transposed = isDeconvolution(command.type);
    options.srcNchw = command.inputs[0]->channelBlock == 1;
    options.bf16 = backend.config().precision == Precision::Low;
    if (command.algorithm != 0) {
        options.algorithm = static_cast<ConvAlgorithm>(command.algorithm);
        options.onePacking = true;
    }
    options.exact = backend.config().precision == Precision::High;
    if (command.operands() > 1) {
        const Tensor& weight = *command.inputs[1];
        options.packedInRuns = weight.usage != Usage::Constant && !weight.hasConstantValue;
    }
    options.lowMemory = backend.config().memory == MemoryMode::Low;
    if (options.lowMemory && command.operands() == 1) {
        const ConvParams& params = command.paramsAs<ConvParams>();
        if (const auto form = params.quantizedForm(w.weightCount, w.oc, command.name.c_str()))
            options.quantization = {form->bits, static_cast<int>(form->blocksPerOutput), form->minima};
    }
    return options;
}

void appendCandidates(const CpuBackend& backend, const Command& convolution, const ConvOptions& options, bool measured,
                      std::vector<AlgorithmCandidate>& out) {
    const ConvShape shape = planShape(windowOf(convolution), convolution.paramsAs<ConvParams>());
    const size_t first = out.size();
    for (const ConvCandidate& one : convCandidates(backend.kernels(), shape, options))
        out.push_back({one.name, one.cycles, one.chosen});
    if (!measured) return;
    const std::vector<double> times = measureConvCandidates(backend.kernels(), shape, options, backend.planningPool());
    const double minTime = *std::min_element(times.begin(), times.end());
    for (size_t i = 0; i < times.size(); ++i) {
        out[first + i].ms = times[i];
        out[first + i].slow = minTime < 0.9 * times[i];
    }
}

PostOps postOps(const Command& command) {
    PostOps post;
    post.act = command.epilogue.act;
    post.lo = command.epilogue.lo;
    post.hi = command.epilogue.hi;
    return post;
}

// The key contains the extents, because the same operator may get another number of channels, and operators of other
// extents may read the same constant.
std::string weightVariant(const CpuBackend& backend, const ConvPlan& plan, const ConvWindow& w) {
    return plan.algorithm() + "/" + plan.weightVariant() + "/" + backend.kernels().isa +
           format("/%lld/%lldx%lldx%lldx%lld", asLong(w.groups), asLong(w.oc), asLong(w.ic), asLong(w.kh),
                  asLong(w.kw));
}

void PackedConvWeights::prepare(const CpuBackend& backend, const Command& command, const ConvPlan& plan,
                                const ConvWindow& w) {
    const ConvParams& params = command.paramsAs<ConvParams>();
    const char* name = command.name.c_str();
    const auto fill = [&](void* buffer) {
        if (const QuantizedWeightPacker* packer = plan.quantizedPacker()) {
            ModelWeights weights(params, w, name);
            return packer->packQuantized(weights, buffer, backend.planningPool());
        }
        FloatSource weights = params.weightSource(w.weightCount, w.oc, name);
        plan.packWeights(
            [&](size_t first, size_t count) {
                if (params.model) params.model->readingWeights(static_cast<int64_t>(count * sizeof(float)));
                return weights.at(first, count);
            },
            buffer, backend.planningPool());
    };
    packed_ = backend.weights(command.params, weightVariant(backend, plan, w), plan.packedWeightBytes(), fill,
                              params.modelBytes());
    if (!bias_.empty()) return;
    const FloatView bias = params.bias(w.oc, name);
    bias_ = paddedBias(bias.span().data(), static_cast<int>(w.oc));
}

}  // namespace mnnc::cpu
