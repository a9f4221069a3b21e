// The pattern PointwiseDepthwise: a 1x1 convolution and the depthwise convolution that is the only consumer of its
// result. The second one reads that result from the cache.
#include "backends/cpu/kernels/conv/pointwise_depthwise.h"

#include "backends/cpu/fusions/patterns.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/ops/packed_conv_weights.h"
#include "plan/graph.h"
#include "plan/single_operand.h"

namespace mnnc::cpu {
namespace {

using Plan = PointwiseDepthwisePlan;

std::shared_ptr<Plan> planOf(const CpuBackend& backend, const Command& pointwise, const Command& depthwise) {
    const ConvWindow p = windowOf(pointwise), d = windowOf(depthwise);
    if (d.groups != d.ic) return nullptr;
    ConvOptions options = convOptions(backend, pointwise, p);
    options.srcNchw = false;  // matchPointwiseDepthwise() has checked the storage
    return Plan::make(backend.kernels(), planShape(p, pointwise.paramsAs<ConvParams>()), options,
                      planShape(d, depthwise.paramsAs<ConvParams>()));
}

class PointwiseDepthwise final : public Execution, public AlgorithmChoice {
  public:
    PointwiseDepthwise(CpuBackend& backend, const Command& command)
        : backend_(backend),
          command_(command),
          body_(command_),
          plan_(std::static_pointer_cast<Plan>(command.paramsAs<FusedParams>().prepared)) {}

    void prepare() override {
        pointwiseWeights_.prepare(backend_, pointwise_, plan_->pointwise(), windowOf(pointwise_));
        depthwiseWeights_.prepare(backend_, depthwise_, plan_->depthwise(), windowOf(depthwise_));
        first_ = side(pointwise_, pointwiseWeights_);
        second_ = side(depthwise_, depthwiseWeights_);
        requestScratch(plan_->scratchBytes(backend_.planningPool().threads()));
    }

    std::string algorithm() const override {
        return plan_->pointwise().algorithm() + epilogueText(pointwise_.epilogue) + ", " +
               plan_->depthwise().algorithm() + epilogueText(depthwise_.epilogue);
    }

    std::vector<AlgorithmCandidate> candidates(bool measured) const override {
        std::vector<AlgorithmCandidate> out;
        appendCandidates(backend_, pointwise_, convOptions(backend_, pointwise_, windowOf(pointwise_)), measured, out);
        ConvOptions options;
        options.groups = static_cast<int>(windowOf(depthwise_).groups);
        options.threads = backend_.planningPool().threads();
        appendCandidates(backend_, depthwise_, options, measured, out);
        return out;
    }

    void run(const Frame& frame) const override {
        plan_->run(frame.data<const float>(*command_.inputs[0]), first_, second_,
                   frame.data<float>(*command_.outputs[0]), frame.scratch(), frame.pool());
    }

  private:
    static Plan::Side side(const Command& command, const PackedConvWeights& stored) {
        Plan::Side side{stored.packed(), postOps(command)};
        side.post.bias = stored.bias();
        return side;
    }

    CpuBackend& backend_;
    const Command command_;
    const FusedBody body_;
    const Command &pointwise_ = body_.steps()[0], &depthwise_ = body_.steps()[1];
    const std::shared_ptr<Plan> plan_;
    PackedConvWeights pointwiseWeights_, depthwiseWeights_;
    Plan::Side first_, second_;
};

// Returns the plan for both, where fusing them pays.
std::shared_ptr<Plan> fusedPlan(const CpuBackend& backend, const Command& pointwise, const Command& depthwise) {
    const Operand &from = *pointwise.inputs[0], &between = *depthwise.inputs[0], &to = *depthwise.outputs[0];
    if (between.empty() || to.empty() || !canPack(from) || !canPack(between) || !canPack(to)) return nullptr;
    if (between.elements() / between.shape[0] < backend.kernels().costs->cache.minFusedMap / int64_t{sizeof(float)})
        return nullptr;
    return planOf(backend, pointwise, depthwise);
}

std::vector<FusionMatch> matchPointwiseDepthwise(const CommandGraph& graph, const Backend& backend) {
    std::vector<FusionMatch> matches;
    for (const CommandGraph::Id id : graph.ids()) {
        const Command& depthwise = graph.command(id);
        if (depthwise.type != OpType::ConvolutionDepthwise || !hasOneFloatOperand(depthwise)) continue;
        const CommandGraph::Id first = graph.exclusiveProducer(depthwise.inputs[0], id);
        if (first == CommandGraph::kNone) continue;
        const Command& pointwise = graph.command(first);
        if (pointwise.type != OpType::Convolution || !hasOneFloatOperand(pointwise)) continue;
        // Alone, the convolution reads its few channels row-major. Fused, it would need them packed.
        if (graph.storage(first).choice.blockOf(0) == 1) continue;
        // The fused command reads the input later than the convolution did, so nothing may write it in between.
        if (graph.producerCount(pointwise.inputs[0]) > 1) continue;
        if (auto plan = fusedPlan(cpuBackend(backend), pointwise, depthwise))
            matches.push_back({{first, id}, std::move(plan)});
    }
    return matches;
}

StorageChoice storagePointwiseDepthwise(const Backend& backend, const Command& command) {
    return storagePacked(cpuBackend(backend), command);
}

std::unique_ptr<Execution> createPointwiseDepthwise(Backend& backend, const Command& command, std::string&) {
    return std::make_unique<PointwiseDepthwise>(cpuBackend(backend), command);
}

}  // namespace

constinit const FusionPattern kPointwiseDepthwise = {"PointwiseDepthwise", matchPointwiseDepthwise,
                                                     storagePointwiseDepthwise, createPointwiseDepthwise};

}  // namespace mnnc::cpu
