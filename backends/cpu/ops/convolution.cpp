// Convolutions and deconvolutions on the CPU: a ConvPlan per shape, packed weights from the shared store. Weights that
// are tensors are packed once when their content is constant, else into scratch on every run.
#include "ops/convolution.h"

#include "backends/cpu/kernels/conv/conv.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/ops/conv_shape.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/int8.h"
#include "backends/cpu/ops/packed_conv_weights.h"
#include "base/aligned.h"
#include "tensor/stored_content.h"

namespace mnnc::cpu {

namespace {

class ConvExecution final : public Execution, public AlgorithmChoice {
  public:
    ConvExecution(CpuBackend& backend, const Command& command) : backend_(backend), command_(command) {}

    void prepare() override {
        plan_.reset();
        if (command_.outputs[0]->empty()) return;
        const ConvWindow w = windowOf(command_);
        const ConvOptions options = optionsOf(w);
        plan_ = makeConvPlan(backend_.kernels(), shapeOf(w), options);
        post_ = postOps(command_);
        packedBytes_ = plan_->packedWeightBytes();
        int64_t bytes = plan_->scratchBytes(options.threads);
        packAtRun_ = false;
        if (command_.operands() > 1) {
            bytes = prepareTensorWeights(bytes, w);
            noBias_ = paddedBias(nullptr, toInt(w.oc));
            biasBytes_ =
                command_.operands() > 2 ? roundUp(static_cast<int64_t>(noBias_.size() * sizeof(float)), 64) : 0;
            bytes = checkedAdd(bytes, biasBytes_, "scratch");
        } else {
            stored_.prepare(backend_, command_, *plan_, w);
        }
        requestScratch(bytes);
    }

    std::string algorithm() const override { return plan_ ? plan_->algorithm() + epilogueText(command_.epilogue) : ""; }

    std::vector<AlgorithmCandidate> candidates(bool measured) const override {
        std::vector<AlgorithmCandidate> out;
        if (plan_) appendCandidates(backend_, command_, optionsOf(windowOf(command_)), measured, out);
        return out;
    }

    void run(const Frame& frame) const override {
        if (!plan_) return;
        ThreadPool& pool = frame.pool();
        auto* memory = static_cast<char*>(frame.scratch());
        const void* packed = command_.operands() > 1 ? constant_.get() : stored_.packed();
        if (packAtRun_) {
            plan_->packWeights(frame.data<const float>(*command_.inputs[1]), memory, pool);
            packed = memory;
            memory += roundUp(packedBytes_, 64);
        }
        PostOps post = post_;
        post.bias = command_.operands() > 1 ? noBias_.data() : stored_.bias();
        if (command_.operands() > 2) {
            post.bias = padBias(frame.data<const float>(*command_.inputs[2]), reinterpret_cast<float*>(memory));
            memory += biasBytes_;
        }
        if (command_.epilogue.residual) post.residual = frame.data<const float>(*command_.inputs.back());
        const auto* src = frame.data<const float>(*command_.inputs[0]);
        auto* dst = frame.data<float>(*command_.outputs[0]);
        plan_->runInTurn(frame.number(), src, packed, dst, post, memory, pool);
    }

    uint32_t inPlaceInputs(size_t) const override {
        const size_t residual = command_.operands();
        const bool adds = command_.epilogue.residual && residual < 32 && plan_ && plan_->addsInPlace();
        return adds ? 1u << residual : 0;
    }

  private:
    // Copies the third input, with zeros up to whole vectors.
    const float* padBias(const float* bias, float* padded) const {
        const auto channels = static_cast<size_t>(command_.outputs[0]->shape.at(1));
        std::copy_n(bias, channels, padded);
        std::fill_n(padded + channels, noBias_.size() - channels, 0.0f);
        return padded;
    }
    ConvShape shapeOf(const ConvWindow& w) const { return planShape(w, command_.paramsAs<ConvParams>()); }

    ConvOptions optionsOf(const ConvWindow& w) const {
        ConvOptions options = convOptions(backend_, command_, w);
        options.dstRowMajor =
            command_.outputs[0]->channelBlock == 1 && convWritesRowMajor(backend_.kernels(), shapeOf(w), options);
        return options;
    }

    // Returns the bytes of scratch that a run needs.
    int64_t prepareTensorWeights(int64_t planBytes, const ConvWindow& w) {
        const Operand& weight = *command_.inputs[1];
        own_ = AlignedBuffer();
        constant_ = nullptr;
        const auto pack = [&](void* buffer) {
            if (weight.values) return plan_->packWeights(weight.known<float>(), buffer, backend_.planningPool());
            FloatSource stored = weight.stored->floats();
            plan_->packWeights([&](size_t first, size_t count) { return stored.at(first, count); }, buffer,
                               backend_.planningPool());
        };
        if (weight.usage == Usage::Constant && (weight.values || weight.stored)) {
            constant_ = backend_.weightsOf(command_, 1, weightVariant(backend_, *plan_, w), packedBytes_, pack);
            return planBytes;
        }
        if (weight.hasConstantValue && weight.values) {
            own_ = AlignedBuffer(packedBytes_, backend_.hostMemory());
            pack(own_.data());
            constant_ = PackedWeights(PackedWeights(), own_.data());
            return planBytes;
        }
        packAtRun_ = true;
        return checkedAdd(roundUp(packedBytes_, 64), planBytes, "scratch");
    }

    CpuBackend& backend_;
    Command command_;
    std::unique_ptr<ConvPlan> plan_;
    PostOps post_;
    PackedConvWeights stored_;
    std::vector<float> noBias_;  // where weights are inputs: paddedBias() without a bias
    PackedWeights constant_;     // weights that are inputs but never change
    AlignedBuffer own_;          // the memory of weights that were computed while planning
    int64_t packedBytes_ = 0;
    int64_t biasBytes_ = 0;  // of the third input in scratch
    bool packAtRun_ = false;
};

// Returns whether a fully connected layer writes its result row-major, as its consumer reads it.
bool writesRowMajor(const CpuBackend& backend, const Command& command) {
    if (command.type != OpType::Convolution || command.inputs[0]->empty() || command.outputs[0]->empty() ||
        command.inputs[0]->type != DataType::Float32)
        return false;
    const ConvWindow w = windowOf(command);
    return convWritesRowMajor(backend.kernels(), planShape(w, command.paramsAs<ConvParams>()),
                              convOptions(backend, command, w));
}

// A first layer or a fully connected one may read its row-major input directly; all other tensors are channel-packed.
StorageChoice convolutionStorage(const CpuBackend& backend, const Command& command) {
    StorageChoice choice;
    choice.inputBlock = choice.outputBlock = backend.channelBlock();
    choice.rowMajorInputs = ~1u;
    if (command.epilogue.residual) choice.rowMajorInputs &= ~(1u << command.operands());
    const Operand& x = *command.inputs[0];
    if (writesRowMajor(backend, command)) {
        choice.outputBlock = 1;
        choice.rowMajorInputs = ~1u;
    }
    if (x.channelBlock == 1 && !isDeconvolution(command.type) && !x.empty() && !command.outputs[0]->empty()) {
        const ConvWindow w = windowOf(command);
        if (convReadsNchw(planShape(w, command.paramsAs<ConvParams>()), convOptions(backend, command, w)))
            choice.rowMajorInputs |= 1u;  // a residual is packed like the output
    }
    return choice;
}

std::unique_ptr<Execution> createConvolution(CpuBackend& backend, const Command& command, std::string& reason) {
    if (!command.params) return refuse(reason, format("%s has no parameters", command.name.c_str()));
    if (command.type == OpType::Deconvolution && command.inputs[0]->type == DataType::Int8)
        return createInt8Deconvolution(backend, command, reason);
    if (command.inputs[0]->type != DataType::Float32)
        return refuse(reason, format("%s: a convolution of %s is not implemented", command.name.c_str(),
                                     dataTypeName(command.inputs[0]->type)));
    return std::make_unique<ConvExecution>(backend, command);
}

bool fusesConvolution(const CpuBackend&, const Command& command) {
    return command.params && canPack(*command.outputs[0]);
}

}  // namespace

constexpr uint32_t kWeights = 1u << 1;
constexpr CpuOp kConvolutionCpu[] = {
    {OpType::Convolution, convolutionStorage, createConvolution, fusesConvolution, quantizesConvolution, kWeights},
    {OpType::ConvolutionDepthwise, convolutionStorage, createConvolution, fusesConvolution, quantizesConvolution,
     kWeights},
    {OpType::Deconvolution, convolutionStorage, createConvolution, fusesConvolution, quantizesDeconvolution, kWeights},
    {OpType::DeconvolutionDepthwise, convolutionStorage, createConvolution, fusesConvolution, nullptr, kWeights},
};
extern constinit const CpuFamily convolutionCpu = kConvolutionCpu;

}  // namespace mnnc::cpu
