// Convolution3D and ConvTranspose3D of packed volumes: one dispatch. Groups that do not fill blocks of channels have a
// separate kernel.
#include "ops/convolution3d.h"

#include <algorithm>
#include <cstdlib>

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/convolution.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/post_ops.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

// The limit of products that a single invocation adds up: after a longer time the driver may consider the device lost.
constexpr int64_t kMaxProducts = 1 << 20;

Conv3dWindow volumeWindowOf(const Command& command) {
    return conv3dWindow(command.paramsAs<Conv3dParams>(), command.inputs[0]->shape, command.name.c_str());
}

struct Geometry {
    explicit Geometry(const Command& command)
        : w(volumeWindowOf(command)), groupIn(w.ic / w.groups), groupOut(w.oc / w.groups) {
        for (const int extent : command.paramsAs<Conv3dParams>().kernel) taps *= extent;
    }
    // Returns whether every group begins and ends with a block, or there is one group.
    bool aligned() const { return w.groups == 1 || (groupIn % kChannelBlock == 0 && groupOut % kChannelBlock == 0); }
    int64_t depthBlocks() const { return ceilDiv(groupIn, kChannelBlock); }
    int64_t quads() const { return ceilDiv(groupOut, kChannelBlock); }
    int64_t weightCount() const {
        if (!aligned()) return w.weightCount;
        return checkedMul(checkedMul(w.groups * quads(), taps, "weights"),
                          depthBlocks() * kChannelBlock * kChannelBlock, "weights");
    }

    Conv3dWindow w;
    int64_t groupIn, groupOut;  // channels of one group
    int64_t taps = 1;
};

Epilogue epilogueOf(const Command& command) {
    Epilogue epilogue = command.epilogue;
    const auto& p = command.paramsAs<Conv3dParams>();
    if (p.relu || p.relu6) epilogue.lo = 0;
    if (p.relu6) epilogue.hi = 6;
    return epilogue;
}

class Convolution3d final : public VulkanExecution {
  public:
    Convolution3d(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend),
          command_(command),
          params_(command_.paramsAs<Conv3dParams>()),
          g_(command_),
          postOps_(epilogueOf(command_)) {}

    void prepare() override {
        const char* name = command_.name.c_str();
        const Packed out(*command_.outputs[0]);
        const bool aligned = g_.aligned();
        weights_ = backend().weights(command_.params, format("conv 3d %d %lld", aligned, asLong(g_.w.groups)),
                                     g_.weightCount(), [&](std::vector<float>& values) {
                                         const FloatView stored = params_.weights(g_.w.weightCount, g_.w.oc, name);
                                         if (aligned)
                                             pack(stored.data(), values.data());
                                         else
                                             std::copy(stored.span().begin(), stored.span().end(), values.begin());
                                     });
        bias_ = backend().weights(
            command_.params, "conv 3d bias", out.blocks * kChannelBlock,
            [&](std::vector<float>& values) {
                const FloatView bias = params_.bias(g_.w.oc, name);
                std::copy(bias.span().begin(), bias.span().end(), values.begin());
            },
            true);
        const int64_t planes = out.n * out.blocks;
        const uint32_t pixels = !aligned || planes * out.plane < 4 * kEnoughInvocations ? 1 : 4;
        strip_ = ceilDiv(out.plane, pixels);
        std::vector<uint32_t> constants = {params_.transposed, postOps_.code, pixels};
        if (aligned) constants.push_back(static_cast<uint32_t>(g_.groupIn % kChannelBlock));
        pipeline_ = &backend().pipeline(aligned ? "convolution3d" : "convolution3d_direct", DataType::Float32, 4,
                                        kLocal, constants);
    }

    void encode(FrameRecorder& recorder) const override {
        const Packed in(*command_.inputs[0]), out(*command_.outputs[0]);
        const int64_t total = out.n * out.blocks * strip_;
        Push push;
        push.u(total, strip_, out.blocks, in.blocks, g_.w.oc, g_.groupIn, g_.groupOut);
        for (const int value : params_.kernel) push.u(value);
        for (const int64_t value : g_.w.in) push.u(value);
        for (const int64_t value : g_.w.out) push.u(value);
        for (const int value : params_.stride) push.u(value);
        for (const int64_t value : g_.w.begin) push.u(value);
        for (const int value : params_.dilate) push.u(value);
        push.f(postOps_.lo, postOps_.hi);
        recorder.dispatch(*pipeline_,
                          {{recorder.reads(*command_.inputs[0]), recorder.reads(*weights_), recorder.reads(*bias_),
                            recorder.writes(*command_.outputs[0])}},
                          push, ceilDiv(total, pipeline_->localSize));
    }

  private:
    // Packs weights in the order in which convolution3d.comp reads them.
    void pack(const float* weights, float* packed) const {
        const int64_t depthBlocks = g_.depthBlocks(), quads = g_.quads(), taps = g_.taps;
        for (int64_t oc = 0; oc < g_.w.oc; ++oc) {
            const int64_t group = oc / g_.groupOut, filter = oc % g_.groupOut;
            for (int64_t c = 0; c < g_.groupIn; ++c) {
                const int64_t row =
                    params_.transposed ? (group * g_.groupIn + c) * g_.groupOut + filter : oc * g_.groupIn + c;
                for (int64_t tap = 0; tap < taps; ++tap) {
                    const int64_t line =
                        ((group * taps + tap) * depthBlocks + c / kChannelBlock) * kChannelBlock + c % kChannelBlock;
                    packed[(line * quads + filter / kChannelBlock) * kChannelBlock + filter % kChannelBlock] =
                        weights[row * taps + tap];
                }
            }
        }
    }

    const Command command_;
    const Conv3dParams& params_;
    const Geometry g_;
    const PostOps postOps_;
    int64_t strip_ = 1;
    VulkanBackend::WeightsPtr weights_, bias_;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsConvolution3d(const VulkanBackend& backend, const Command& command, std::string& reason) {
    if (!supportsFloat(backend, command, reason)) return false;
    if (command.outputs[0]->empty() || !canPack(*command.inputs[0]) || !canPack(*command.outputs[0]))
        return refuse(reason, "the Vulkan kernel takes volumes that are not empty and can be packed by channels");
    const Geometry g(command);
    const auto& p = command.paramsAs<Conv3dParams>();
    int64_t reach = std::max(g.w.weightCount, g.weightCount());
    for (size_t i = 0; i < 3; ++i)
        reach = std::max(reach, checkedMul(g.w.out[i], p.stride[i], "convolution") +
                                    int64_t{p.kernel[i]} * p.dilate[i] + std::abs(g.w.begin[i]));
    if (reach > kMaxCoordinate || checkedMul(g.taps, g.groupIn, "convolution") > kMaxProducts)
        return refuse(reason, "the window exceeds what the Vulkan kernels address");
    const int64_t bytes = checkedMul(g.weightCount(), backend.half() ? 2 : 4, "weights");
    if (roundUp(bytes, 16) > backend.limits().storageRange)
        return refuse(reason, format("its weights exceed what the device binds at once (%lld bytes)",
                                     asLong(backend.limits().storageRange)));
    // Where groups share blocks, an invocation sums up four channels, each over single input channels.
    const int64_t outer = g.aligned() ? 1 : 4, inner = g.aligned() ? g.depthBlocks() : g.groupIn;
    return fewRounds(backend, nestedRounds({outer, p.kernel[0], p.kernel[1], p.kernel[2], inner}), reason);
}

// The rule is that of the CPU, which executes the command where the device does not: there is no residual, and the
// operator has no clamp of its own, which would have to precede the epilogue.
bool supportsPostOps(const VulkanBackend&, const Command& command) {
    const auto* params = command.paramsIf<Conv3dParams>();
    return params && !params->relu && !params->relu6 && !command.epilogue.residual && canPack(*command.outputs[0]);
}

std::unique_ptr<Execution> createConvolution3d(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Convolution3d>(backend, command);
}

}  // namespace

constexpr VulkanOp kConvolutions3d[] = {
    {OpType::Convolution3D, supportsConvolution3d, storagePacked, createConvolution3d, supportsPostOps},
    {OpType::ConvTranspose3D, supportsConvolution3d, storagePacked, createConvolution3d, supportsPostOps},
};
extern constinit const VulkanFamily convolution3dVulkan = kConvolutions3d;

}  // namespace mnnc::vulkan
