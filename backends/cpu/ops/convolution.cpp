// Convolutions and deconvolutions on the CPU: a ConvPlan per shape, packed weights from the shared store.
// Weights that are tensors are packed once when their content is constant, else into scratch on every run.
#include "ops/convolution.h"

#include <limits>
#include <vector>

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/ops/conv_shape.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/int8.h"
#include "base/aligned.h"

namespace mnnc::cpu {

namespace {

int toInt(int64_t value) {
    return static_cast<int>(value);
}  // convWindow has checked the range

class ConvExecution final : public Execution {
  public:
    ConvExecution(CpuBackend& backend, const Command& command) : backend_(backend), command_(command) {}

    void onResize() override {
        plan_.reset();
        if (command_.outputs[0]->empty()) return;
        const ConvParams& params = *command_.paramsAs<ConvParams>();
        const ConvWindow w = windowOf(command_);
        ConvOptions options;
        options.groups = toInt(w.groups);
        options.threads = backend_.pool().threads();
        options.transposed = isDeconvolution(command_.type);
        options.srcNchw = command_.inputs[0]->pack == 1;
        options.bf16 = backend_.config().precision == Precision::Low;
        options.exact = backend_.config().precision == Precision::High;
        if (backend_.config().memory == MemoryMode::Low && command_.operands() == 1) {
            if (const auto form = params.quantizedForm(w.weightCount, w.oc, command_.name.c_str()))
                options.codes = {form->bits, toInt(form->blocksPerOutput), form->minima};
        }
        plan_ = makeConvPlan(backend_.kernels(), planShape(w, params), options);
        const Epilogue& epilogue = command_.epilogue;
        post_.act = epilogue.act;
        post_.lo = epilogue.lo;
        post_.hi = epilogue.hi;
        if (params.relu6) {
            post_.lo = 0;
            post_.hi = 6;
        } else if (params.relu) {
            post_.lo = 0;
            post_.hi = std::numeric_limits<float>::max();
        }
        packedBytes_ = static_cast<int64_t>(plan_->packedWeightBytes());
        int64_t bytes = static_cast<int64_t>(plan_->scratchBytes(options.threads));
        packAtRun_ = false;
        if (command_.operands() > 1)
            bytes = prepareTensorWeights(bytes);
        else
            prepareStoredWeights(params, w);
        requestScratch(bytes);
    }

    std::string algorithm() const override {
        return plan_ ? plan_->algorithm() + epilogueText(command_.epilogue) : "";
    }

    void onExecute() override {
        if (!plan_) return;
        ThreadPool& pool = backend_.pool();
        auto* memory = static_cast<char*>(scratch());
        const void* packed = packed_;
        if (packAtRun_) {
            plan_->packWeights(command_.inputs[1]->as<const float>(), memory, pool);
            packed = memory;
            memory += roundUp(packedBytes_, 64);
        }
        PostOps post = post_;
        post.bias = command_.operands() > 2 ? command_.inputs[2]->as<const float>() : bias_.data();
        if (command_.epilogue.residual) post.residual = command_.inputs.back()->as<const float>();
        plan_->run(command_.inputs[0]->as<const float>(), packed, command_.outputs[0]->as<float>(), post,
                   memory, pool);
    }

    uint32_t inPlaceInputs(size_t) const override {
        const size_t residual = command_.operands();
        const bool adds = command_.epilogue.residual && residual < 32 && plan_ && plan_->addsInPlace();
        return adds ? 1u << residual : 0;
    }

  private:
    // Returns the scratch a run needs.
    int64_t prepareTensorWeights(int64_t planBytes) {
        const Tensor& weight = *command_.inputs[1];
        if (weight.contentKnown && weight.data) {
            own_ = AlignedBuffer(packedBytes_);
            plan_->packWeights(weight.as<const float>(), own_.data(), backend_.pool());
            packed_ = own_.data();
            return planBytes;
        }
        packAtRun_ = true;
        return checkedAdd(roundUp(packedBytes_, 64), planBytes, "scratch");
    }

    void prepareStoredWeights(const ConvParams& params, const ConvWindow& w) {
        const char* name = command_.name.c_str();
        // The same operator on another number of channels means other groups, hence the count in the key.
        const std::string variant = plan_->algorithm() + "/" + plan_->weightVariant() + "/" +
                                    backend_.kernels().isa + "/" + std::to_string(w.groups);
        const auto fill = [&](void* buffer) {
            if (plan_->keepsCodes()) {
                plan_->packCodes(params.quantizedWeights(w.weightCount, w.oc, name), buffer, backend_.pool());
                return;
            }
            const FloatView weights = params.weights(w.weightCount, w.oc, name);
            plan_->packWeights(weights.data(), buffer, backend_.pool());
        };
        stored_ = backend_.weights(command_.params, variant, packedBytes_, fill, params.modelBytes());
        packed_ = stored_.get();
        if (!bias_.empty()) return;
        const FloatView bias = params.bias(w.oc, name);
        bias_.assign(bias.span().begin(), bias.span().end());
    }

    CpuBackend& backend_;
    Command command_;
    std::unique_ptr<ConvPlan> plan_;
    PostOps post_;
    PackedWeights stored_;
    AlignedBuffer own_;
    const void* packed_ = nullptr;
    int64_t packedBytes_ = 0;
    bool packAtRun_ = false;
    std::vector<float> bias_;  // a copy: it would keep pages of the model in memory
};

// A first layer may read its plain input as it is; everything else is channel-packed.
StorageChoice convolutionStorage(const CpuBackend& backend, const Command& command) {
    StorageChoice choice;
    choice.inputPack = choice.outputPack = backend.pack();
    choice.plainInputs = ~1u;
    if (command.epilogue.residual) choice.plainInputs &= ~(1u << command.operands());
    const Tensor& x = *command.inputs[0];
    if (x.pack == 1 && !isDeconvolution(command.type) && !x.empty() && !command.outputs[0]->empty()) {
        const ConvWindow w = windowOf(command);
        if (convReadsNchw(planShape(w, *command.paramsAs<ConvParams>()), toInt(w.groups)))
            choice.inputPack = 1;
    }
    return choice;
}

std::unique_ptr<Execution> createConvolution(CpuBackend& backend, const Command& command,
                                             std::string& reason) {
    if (!command.params) {
        reason = format("%s has no parameters", command.name.c_str());
        return nullptr;
    }
    if (command.inputs[0]->type != DataType::Float32) {
        reason = format("%s: a convolution of %s is not implemented", command.name.c_str(),
                        dataTypeName(command.inputs[0]->type));
        return nullptr;
    }
    return std::make_unique<ConvExecution>(backend, command);
}

// A clamp of the file's own comes before anything that follows.
bool fusesConvolution(const Command& command) {
    const auto* params = command.paramsAs<ConvParams>();
    return params && !params->relu && !params->relu6 && canPack(*command.outputs[0]);
}

}  // namespace

CpuFamily convolutionCpu() {
    static constexpr CpuOp kOps[] = {
        {OpType::Convolution, convolutionStorage, createConvolution, fusesConvolution, quantizesConvolution},
        {OpType::ConvolutionDepthwise, convolutionStorage, createConvolution, fusesConvolution,
         quantizesConvolution},
        {OpType::Deconvolution, convolutionStorage, createConvolution, fusesConvolution},
        {OpType::DeconvolutionDepthwise, convolutionStorage, createConvolution, fusesConvolution},
    };
    return kOps;
}

}  // namespace mnnc::cpu
