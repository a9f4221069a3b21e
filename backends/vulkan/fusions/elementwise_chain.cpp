// The pattern ElementwiseChain: element-wise operators that feed one another are one dispatch, whose intermediate
// results stay in registers.
#include <algorithm>
#include <optional>

#include "backends/vulkan/fusions/patterns.h"
#include "backends/vulkan/ops/table.h"
#include "backends/vulkan/ops/unary.h"
#include "backends/vulkan/vulkan_execution.h"
#include "base/error.h"
#include "ops/binary.h"
#include "plan/elementwise_chains.h"
#include "plan/fused_command.h"

namespace mnnc::vulkan {

namespace {

// The limits are those of elementwise_chain.comp. A step takes at most two literals.
constexpr uint32_t kMaxInputs = 5, kMaxOutputs = 3, kMaxSteps = 14, kMaxLiterals = 2 * kMaxSteps;
constexpr uint32_t kBuffers = kMaxInputs + kMaxOutputs;
constexpr uint32_t kNone = 255, kBinary = 64;

// The value of each input of the fused command, where it is known.
using Literals = std::vector<std::optional<float>>;

class ElementwiseChain final : public VulkanExecution {
  public:
    ElementwiseChain(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), params_(command_.paramsAs<FusedParams>()) {
        numberInputs();
        for (const FusedStep& step : params_.steps) addStep(step);
    }

    void prepare() override {
        std::vector<uint32_t> constants = {static_cast<uint32_t>(tensors_.size()), singles_, unaryCodes_[0],
                                           unaryCodes_[1], binaryCodes_};
        for (size_t k = 0; k < kMaxOutputs; ++k)
            constants.push_back(k < params_.results.size() ? static_cast<uint32_t>(params_.results[k]) : kNone);
        constants.push_back(static_cast<uint32_t>(steps_.size()));
        constants.insert(constants.end(), steps_.begin(), steps_.end());
        pipeline_ = &backend().pipeline("elementwise_chain", *command_.outputs[0], kBuffers, 64, constants);
    }

    void encode(FrameRecorder& recorder) const override {
        // Every binding of the kernel needs a buffer: unused ones repeat another.
        std::vector<Binding> bindings;
        for (size_t k = 0; k < kMaxInputs; ++k)
            bindings.push_back(recorder.reads(*tensors_[k < tensors_.size() ? k : 0]));
        for (size_t k = 0; k < kMaxOutputs; ++k)
            bindings.push_back(recorder.writes(*command_.outputs[k < command_.outputs.size() ? k : 0]));
        const int64_t quads = ceilDiv(command_.outputs[0]->storageElements(), kChannelBlock);
        Push push;
        push.u(quads);
        for (size_t k = 0; k < kMaxLiterals; ++k) push.f(k < literals_.size() ? literals_[k] : 0);
        recorder.dispatch(*pipeline_, bindings, push, ceilDiv(quads, pipeline_->localSize));
    }

    std::string algorithm() const override { return format("%zu operators", steps_.size()); }

  private:
    uint32_t addLiteral(float value) {
        literals_.push_back(value);
        return static_cast<uint32_t>(literals_.size() - 1);
    }

    // Literals come first, then tensors, then the results of the steps.
    void numberInputs() {
        const Literals& known = *static_cast<const Literals*>(params_.prepared.get());
        for (size_t i = 0; i < command_.inputs.size(); ++i) {
            if (known[i]) {
                numbers_.push_back(addLiteral(*known[i]));
                continue;
            }
            const Operand& input = *command_.inputs[i];
            if (!(input.shape == command_.outputs[0]->shape)) singles_ |= 1u << tensors_.size();
            numbers_.push_back(kMaxLiterals + static_cast<uint32_t>(tensors_.size()));
            tensors_.push_back(&input);
        }
    }

    void addStep(const FusedStep& step) {
        uint32_t word = numbers_[step.operands[0]] << 8;
        if (step.type == OpType::BinaryOp) {
            const auto& binary = mnnc::paramsAs<BinaryParams>(step.params.get(), step.name.c_str());
            const auto code = static_cast<uint32_t>(binary.code);
            binaryCodes_ |= 1u << code;
            word |= (kBinary + code) | static_cast<uint32_t>(binary.relu) << 7 | numbers_[step.operands[1]] << 16;
        } else {
            const UnaryFormula formula = unaryFormula(step.type, step.params.get(), step.name.c_str());
            unaryCodes_[formula.code / 32] |= 1u << formula.code % 32;
            word |= formula.code;
            if (step.type != OpType::UnaryOp) {
                word |= addLiteral(formula.a) << 16;
                addLiteral(formula.b);
            }
        }
        numbers_.push_back(kMaxLiterals + kMaxInputs + static_cast<uint32_t>(steps_.size()));
        steps_.push_back(word);
    }

    const Command command_;
    const FusedParams& params_;
    std::vector<const Operand*> tensors_;  // the tensors that are bound
    std::vector<uint32_t> numbers_;        // of the inputs and the steps, as operands of the kernel
    std::vector<uint32_t> steps_;
    std::vector<float> literals_;
    uint32_t singles_ = 0, unaryCodes_[2] = {0, 0}, binaryCodes_ = 0;
    const Pipeline* pipeline_ = nullptr;
};

// Returns the value of each input of the fused command, where it is known now.
std::shared_ptr<void> literalsOf(const CommandGraph& graph, const std::vector<CommandGraph::Id>& members) {
    auto literals = std::make_shared<Literals>();
    for (const Operand* input : fusedInputs(graph, members))
        literals->push_back(isKnownNumber(*input) ? std::optional<float>(*input->known<float>()) : std::nullopt);
    // The kernel must read at least one tensor.
    if (std::all_of(literals->begin(), literals->end(), [](const auto& one) { return one.has_value(); }))
        literals->front().reset();
    return literals;
}

std::vector<FusionMatch> match(const CommandGraph& graph, const Backend& backend) {
    const VulkanBackend& vulkan = vulkanBackend(backend);
    if (vulkan.limits().storageBuffers < kBuffers) return {};
    ChainLimits limits;
    limits.steps = kMaxSteps;
    limits.inputs = kMaxInputs;
    limits.outputs = kMaxOutputs;
    limits.literals = true;
    limits.accepts = [&](const Command& command) {
        std::string reason;
        const VulkanOp* op = findVulkanOp(command.type);
        return op && (!op->supports || op->supports(vulkan, command, reason));
    };
    std::vector<FusionMatch> matches = findElementwiseChains(graph, limits);
    for (FusionMatch& one : matches) one.prepared = literalsOf(graph, one.members);
    return matches;
}

// The chain is packed where one of its inputs is packed. Single numbers stay as they are.
StorageChoice storage(const Backend&, const Command& command) {
    const Operand& output = *command.outputs[0];
    StorageChoice choice;
    bool packed = false;
    for (size_t i = 0; i < command.inputs.size(); ++i) {
        const bool whole = command.inputs[i]->shape == output.shape;
        packed |= whole && command.inputs[i]->channelBlock > 1;
        if (!whole && i < 32) choice.rowMajorInputs |= 1u << i;
    }
    if (packed && canPack(output)) choice.inputBlock = choice.outputBlock = kChannelBlock;
    return choice;
}

std::unique_ptr<Execution> create(Backend& backend, const Command& command, std::string&) {
    return std::make_unique<ElementwiseChain>(vulkanBackend(backend), command);
}

}  // namespace

constinit const FusionPattern kElementwiseChain = {"ElementwiseChain", match, storage, create};

}  // namespace mnnc::vulkan
