// The geometry of a convolution in the form of the kernels, and the base of all executions of convolutions.
#pragma once
#include "ops/convolution.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/vulkan/ops/post_ops.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

// Kernels compute coordinates in 32 bits; places before and behind a tensor count, too.
constexpr int64_t kMaxCoordinate = 1 << 30;

struct ConvGeometry {
    explicit ConvGeometry(const Command& command);

    ConvWindow w;
    int64_t strideY, strideX, dilateY, dilateX;
    bool transposed, tensorWeights;
    PostOps postOps;
    int64_t inBlocks, outBlocks;
    int64_t groupIn, groupOut;  // channels of one group
    int64_t taps;

    // Returns whether every group begins and ends with a block, or there is one group.
    bool hasAlignedGroups() const {
        return w.groups == 1 || (groupIn % kChannelBlock == 0 && groupOut % kChannelBlock == 0);
    }
    bool isDepthwise() const { return w.groups > 1 && w.groups == w.ic && w.groups == w.oc; }
    // Returns whether there is a single tap, which reads the place of its output.
    bool isPointwise() const {
        return taps == 1 && strideY == 1 && strideX == 1 && w.padTop == 0 && w.padLeft == 0 && w.oh == w.ih &&
               w.ow == w.iw;
    }
};

enum class ConvKernel : uint8_t { Gemm, Depthwise, Direct };
ConvKernel convKernel(const ConvGeometry& c);

class ConvExecution : public VulkanExecution {
  public:
    ConvExecution(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend),
          command_(command),
          c_(command),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]) {}

  protected:
    const ConvParams& params() const { return command_.paramsAs<ConvParams>(); }
    const char* name() const { return command_.name.c_str(); }
    FloatView modelWeights() const { return params().weights(c_.w.weightCount, c_.w.oc, name()); }
    // Returns the bias as whole quads of floats with zeros behind them; keepFloat: fp32, for kernels that add it to a
    // sum.
    VulkanBackend::WeightsPtr packedBias(bool keepFloat) const;
    // Returns the pipeline that writes the output: the variant "_add" with one more buffer where there is a residual.
    const Pipeline& outputPipeline(const std::string& shader, uint32_t buffers, uint32_t localSize,
                                   std::vector<uint32_t> constants) const;
    // Returns the buffers of outputPipeline().
    std::vector<Binding> withResidual(const FrameRecorder& recorder, std::vector<Binding> bindings) const;

    const Command command_;
    const ConvGeometry c_;
    const Operand& input_;
    const Operand& output_;
};

std::unique_ptr<Execution> makeConvGemm(VulkanBackend& backend, const Command& command);
std::unique_ptr<Execution> makeConvVector(VulkanBackend& backend, const Command& command);
std::unique_ptr<Execution> makeConvDepthwise(VulkanBackend& backend, const Command& command);
std::unique_ptr<Execution> makeConvDirect(VulkanBackend& backend, const Command& command);

// Returns whether the kernel for fully connected layers takes the convolution: there are few pixels, and sums are over
// input channels alone.
bool convIsVector(const VulkanBackend& backend, const ConvGeometry& c);
// Returns the rounds of this kernel's loops.
int64_t convVectorRounds(const VulkanBackend& backend, const ConvGeometry& c);

// The form of weights that stay codes on the device (conv_weights.glsl).
struct ConvCodes {
    int64_t pieces = 1;       // pieces of an output channel, each with its own scale
    int64_t pieceBlocks = 1;  // input blocks of a piece
    bool minima = false;
    bool halfBytes = false;  // a code takes 4 bits, else 8

    std::vector<uint32_t> constants() const {
        return {static_cast<uint32_t>(pieces), static_cast<uint32_t>(pieceBlocks), minima, halfBytes};
    }
};
// Returns std::nullopt where the kernels compute with floats: the memory mode requires it, the weights are no codes, or
// the pieces of an output channel do not begin and end with input blocks.
std::optional<ConvCodes> convCodes(const VulkanBackend& backend, const ConvGeometry& c, const Command& command);

// The weights of the products: [group][tap][input block][4][output quad][4], the taps of a transposed convolution
// sorted by phase (see conv_gemm.comp). A slice holds the output quads that fit one binding.
class ConvGemmWeights {
  public:
    ConvGemmWeights(const VulkanBackend& backend, const ConvGeometry& c,
                    const std::optional<ConvCodes>& codes = std::nullopt);

    struct Slice {
        int64_t first = 0, quads = 0;
        VulkanBackend::WeightsPtr block;
    };
    int64_t depthBlocks() const { return ceilDiv(c_.groupIn, kChannelBlock); }
    int64_t quads() const { return ceilDiv(c_.groupOut, kChannelBlock); }  // of one group
    int64_t quadsPerSlice() const { return perSlice_; }                    // 0: not even one fits
    std::vector<Slice> prepare(VulkanBackend& backend, const ParamsPtr& params, const char* name) const;
    // Returns the biases in 32 bits, followed by the scales and minima that turn codes into weights.
    VulkanBackend::WeightsPtr bias(VulkanBackend& backend, const ParamsPtr& params, const char* name) const;
    // Returns the name of a kernel, with "_q8" behind it where it reads codes; addConstants() adds their constants.
    std::string shader(const char* kernel) const { return codes_ ? std::string(kernel) + "_q8" : kernel; }
    bool halfBytes() const { return codes_ && codes_->halfBytes; }
    void addConstants(std::vector<uint32_t>& constants) const {
        if (!codes_) return;
        for (const uint32_t one : codes_->constants()) constants.push_back(one);
    }

  private:
    std::vector<int64_t> tapOrder() const;
    // Calls put(row of the depth, output channel of the slice, weight) for each weight of a slice.
    template <typename T, typename Put>
    void pack(const T* weights, const std::vector<int64_t>& order, const Slice& slice, const Put& put) const;
    void packCodes(const std::vector<int8_t>& codes, const std::vector<int64_t>& order, const Slice& slice,
                   int8_t* out) const;
    const ConvGeometry c_;
    const std::optional<ConvCodes> codes_;
    int64_t perSlice_ = 0;
};

}  // namespace mnnc::vulkan
