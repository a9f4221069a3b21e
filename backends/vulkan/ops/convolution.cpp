// Convolutions and deconvolutions on the device: which commands are supported, and which kernel executes them.
#include "backends/vulkan/ops/convolution.h"

#include <algorithm>
#include <cstdlib>

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"

namespace mnnc::vulkan {

namespace {

// Kernels of transposed convolutions test every tap of an axis to find their phase.
constexpr int64_t kMaxPhaseLoop = 64;
constexpr uint32_t kConvBuffers = 4;  // of a kernel without a residual

ConvWindow windowOf(const Command& command) {
    const Shape& out = command.outputs[0]->shape;
    const int64_t size[2] = {out.at(2), out.at(3)};
    return convWindow(command.type, command.paramsAs<ConvParams>(), command.inputs[0]->shape,
                      command.operands() > 1 ? command.inputs[1] : nullptr, size, command.name.c_str());
}

int64_t reach(int64_t out, int64_t stride, int64_t kernel, int64_t dilate, int64_t pad) {
    return checkedMul(out, stride, "convolution") + kernel * dilate + std::abs(pad);
}

// Returns whether the device can bind the weights, in slices where their kernel has such.
bool bindsWeights(const VulkanBackend& backend, const ConvGeometry& c, const Command& command) {
    if (c.tensorWeights) return true;
    const ConvKernel kernel = convKernel(c);
    if (kernel == ConvKernel::Gemm)
        return ConvGemmWeights(backend, c, convCodes(backend, c, command)).quadsPerSlice() > 0;
    const int64_t count =
        kernel == ConvKernel::Depthwise ? checkedMul(c.taps, c.outBlocks * kChannelBlock, "weights") : c.w.weightCount;
    return roundUp(checkedMul(count, backend.half() ? 2 : 4, "weights"), 16) <= backend.limits().storageRange;
}

// In conv_gemm.comp, four blocks of the depth are a round, and up to five for each of the loops that fetch and multiply
// them. Where there are taps, each block takes up to two more to move to the next tap. Slices of the depth are not
// considered, because the tuner chooses their number.
int64_t gemmRounds(const ConvGeometry& c) {
    const int64_t depth = c.taps * ceilDiv(c.groupIn, kChannelBlock);
    return (c.isPointwise() ? 11 : 19) * ceilDiv(depth, int64_t{4});
}

bool supportsConvolution(const VulkanBackend& backend, const Command& command, std::string& reason) {
    if (!command.params) return refuse(reason, "it has no parameters");
    for (const Operand* tensor : command.inputs) {
        if (tensor->type != DataType::Float32 || tensor->empty())
            return refuse(reason, "the Vulkan kernels take float tensors that are not empty");
    }
    const ConvGeometry c(command);
    const ConvWindow& w = c.w;
    if (std::max({reach(w.oh, c.transposed ? 1 : c.strideY, w.kh, c.dilateY, w.padTop),
                  reach(w.ow, c.transposed ? 1 : c.strideX, w.kw, c.dilateX, w.padLeft), w.weightCount}) >
        kMaxCoordinate)
        return refuse(reason, "the window exceeds what the Vulkan kernels address");
    if (!bindsWeights(backend, c, command))
        return refuse(reason, format("its weights exceed what the device binds at once (%lld bytes)",
                                     asLong(backend.limits().storageRange)));
    switch (convKernel(c)) {
        case ConvKernel::Depthwise:
            return fewRounds(backend, nestedRounds({c.w.kh, c.w.kw}), reason);
        case ConvKernel::Direct:  // an invocation sums up four channels
            return fewRounds(backend, nestedRounds({4, c.w.kh, c.w.kw, c.groupIn}), reason);
        case ConvKernel::Gemm:
            break;
    }
    return fewRounds(backend, convIsVector(backend, c) ? convVectorRounds(backend, c) : gemmRounds(c), reason);
}

std::unique_ptr<Execution> createConvolution(VulkanBackend& backend, const Command& command) {
    const ConvGeometry c(command);
    switch (convKernel(c)) {
        case ConvKernel::Gemm:
            return convIsVector(backend, c) ? makeConvVector(backend, command) : makeConvGemm(backend, command);
        case ConvKernel::Depthwise:
            return makeConvDepthwise(backend, command);
        case ConvKernel::Direct:
            break;
    }
    return makeConvDirect(backend, command);
}

// Weights and biases are row-major.
StorageChoice convolutionStorage(const VulkanBackend& backend, const Command& command) {
    StorageChoice choice = storagePacked(backend, command);
    if (command.epilogue.residual) choice.rowMajorInputs &= ~(1u << command.operands());
    return choice;
}

// The rule must also hold for the CPU, which executes the command with its epilogue where the device refuses it.
bool supportsConvolutionPostOps(const VulkanBackend& backend, const Command& command) {
    return command.params && canPack(*command.outputs[0]) &&
           (!command.epilogue.residual || backend.limits().storageBuffers > kConvBuffers);
}

}  // namespace

constexpr VulkanOp kConvolutions[] = {
    {OpType::Convolution, supportsConvolution, convolutionStorage, createConvolution, supportsConvolutionPostOps},
    {OpType::ConvolutionDepthwise, supportsConvolution, convolutionStorage, createConvolution,
     supportsConvolutionPostOps},
    {OpType::Deconvolution, supportsConvolution, convolutionStorage, createConvolution, supportsConvolutionPostOps},
    {OpType::DeconvolutionDepthwise, supportsConvolution, convolutionStorage, createConvolution,
     supportsConvolutionPostOps},
};
extern constinit const VulkanFamily convolutionVulkan = kConvolutions;

ConvGeometry::ConvGeometry(const Command& command)
    : w(windowOf(command)),
      transposed(isDeconvolution(command.type)),
      tensorWeights(command.operands() > 1),
      postOps(command.epilogue) {
    const ConvParams& params = command.paramsAs<ConvParams>();
    strideY = params.strideY, strideX = params.strideX;
    dilateY = params.dilateY, dilateX = params.dilateX;
    inBlocks = ceilDiv(w.ic, kChannelBlock);
    outBlocks = ceilDiv(w.oc, kChannelBlock);
    groupIn = w.ic / w.groups;
    groupOut = w.oc / w.groups;
    taps = w.kh * w.kw;
}

ConvKernel convKernel(const ConvGeometry& c) {
    if (c.tensorWeights) return ConvKernel::Direct;
    if (c.isDepthwise()) return ConvKernel::Depthwise;
    const bool manyPhases = c.transposed && std::max({c.strideY, c.strideX, c.w.kh, c.w.kw}) > kMaxPhaseLoop;
    return c.hasAlignedGroups() && !manyPhases ? ConvKernel::Gemm : ConvKernel::Direct;
}

VulkanBackend::WeightsPtr ConvExecution::packedBias(bool keepFloat) const {
    return backend().weights(
        command_.params, "conv bias", c_.outBlocks * kChannelBlock,
        [&](std::vector<float>& values) {
            const FloatView bias = params().bias(c_.w.oc, name());
            std::copy(bias.span().begin(), bias.span().end(), values.begin());
        },
        keepFloat);
}

const Pipeline& ConvExecution::outputPipeline(const std::string& shader, uint32_t buffers, uint32_t localSize,
                                              std::vector<uint32_t> constants) const {
    return backend().pipeline(c_.postOps.residual ? shader + "_add" : shader, output_.type,
                              buffers + c_.postOps.residual, localSize, std::move(constants));
}

std::vector<Binding> ConvExecution::withResidual(const FrameRecorder& recorder, std::vector<Binding> bindings) const {
    if (c_.postOps.residual) bindings.push_back(recorder.reads(*command_.inputs.back()));
    return bindings;
}

}  // namespace mnnc::vulkan
