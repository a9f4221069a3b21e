// PointwiseDepthwise on the CPU: what the first convolution makes is read by the second from the cache.
#include "ops/pointwise_depthwise.h"

#include "backends/cpu/kernels/pointwise_depthwise.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/stored_conv.h"

namespace mnnc::cpu {
namespace {

// A map between them of fewer bytes stays in the second level cache as a whole. Measured on whole nets.
constexpr int64_t kLeastBytes = 768 << 10;

using Plan = PointwiseDepthwisePlan;

const PointwiseDepthwiseParams& paramsOf(const Command& command) {
    return command.paramsAs<PointwiseDepthwiseParams>();
}

std::unique_ptr<Plan> planOf(const CpuBackend& backend, const Command& pointwise, const Command& depthwise) {
    const ConvWindow p = windowOf(pointwise), d = windowOf(depthwise);
    if (d.groups != d.ic) return nullptr;
    ConvOptions options = convOptions(backend, pointwise, p);
    options.srcNchw = false;  // storagePacked(), whatever the input is stored as while commands are joined
    return Plan::make(backend.kernels(), planShape(p, pointwise.paramsAs<ConvParams>()), options,
                      planShape(d, depthwise.paramsAs<ConvParams>()));
}

class PointwiseDepthwise final : public Execution {
  public:
    PointwiseDepthwise(CpuBackend& backend, const Command& command)
        : backend_(backend),
          command_(command),
          pointwise_(paramsOf(command).pointwise),
          depthwise_(paramsOf(command).depthwise) {}

    void onResize() override {
        plan_ = planOf(backend_, pointwise_, depthwise_);
        pointwiseWeights_.prepare(backend_, pointwise_, plan_->pointwise(), windowOf(pointwise_));
        depthwiseWeights_.prepare(backend_, depthwise_, plan_->depthwise(), windowOf(depthwise_));
        first_ = side(pointwise_, pointwiseWeights_);
        second_ = side(depthwise_, depthwiseWeights_);
        requestScratch(static_cast<int64_t>(plan_->scratchBytes(backend_.pool().threads())));
    }

    std::string algorithm() const override {
        return plan_ ? plan_->pointwise().algorithm() + epilogueText(pointwise_.epilogue) + ", " +
                           plan_->depthwise().algorithm() + epilogueText(depthwise_.epilogue)
                     : "";
    }

    void onExecute() override {
        plan_->run(command_.inputs[0]->as<const float>(), first_, second_, command_.outputs[0]->as<float>(),
                   scratch(), backend_.pool());
    }

  private:
    static Plan::Side side(const Command& command, const StoredConv& stored) {
        Plan::Side side{stored.packed(), postOps(command)};
        side.post.bias = stored.bias();
        return side;
    }

    CpuBackend& backend_;
    const Command command_;
    const Command &pointwise_, &depthwise_;  // of command_
    std::unique_ptr<Plan> plan_;
    StoredConv pointwiseWeights_, depthwiseWeights_;
    Plan::Side first_, second_;
};

std::unique_ptr<Execution> createPointwiseDepthwise(CpuBackend& backend, const Command& command,
                                                    std::string&) {
    return std::make_unique<PointwiseDepthwise>(backend, command);
}

bool fusesPointwiseDepthwise(const CpuBackend& backend, const Command& command) {
    const Command &pointwise = paramsOf(command).pointwise, &depthwise = paramsOf(command).depthwise;
    const Tensor &from = *pointwise.inputs[0], &between = *depthwise.inputs[0], &to = *depthwise.outputs[0];
    if (between.empty() || to.empty() || !canPack(from) || !canPack(between) || !canPack(to)) return false;
    if (between.elements() / between.shape[0] < kLeastBytes / int64_t{sizeof(float)}) return false;
    return planOf(backend, pointwise, depthwise) != nullptr;
}

}  // namespace

CpuFamily pointwiseDepthwiseCpu() {
    static constexpr CpuOp kOps[] = {
        {OpType::PointwiseDepthwise, storagePacked, createPointwiseDepthwise, fusesPointwiseDepthwise}};
    return kOps;
}

}  // namespace mnnc::cpu
