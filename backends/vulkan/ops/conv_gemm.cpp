// Convolutions as products of matrices: conv_gemm.comp, its tiles, and slices of the depth where there would
// be too few work groups.
#include <algorithm>
#include <numeric>

#include "backends/vulkan/ops/convolution.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kMaxSlices = 16;
constexpr int64_t kStepsPerSlice = 8;  // the minimum

struct Tile {
    uint32_t pixelThreads, quadThreads, pixels, quads;
    double speed;  // of a full device, relative to the first: sums per value read from shared memory

    uint32_t threads() const { return pixelThreads * quadThreads; }
    uint32_t tilePixels() const { return pixelThreads * pixels; }
    uint32_t tileQuads() const { return quadThreads * quads; }
    uint32_t depth() const { return std::max(4u, threads() / tilePixels()); }
    uint32_t sharedBytes() const { return depth() * (tilePixels() + 4 * tileQuads()) * 16; }
};

// Invocations are a multiple of a tile's pixels, because each stages one pixel.
constexpr Tile kTiles[] = {
    {16, 16, 8, 2, 1.0}, {8, 8, 8, 2, 0.9},  {8, 8, 4, 2, 0.75}, {8, 8, 4, 1, 0.55},  {8, 8, 2, 1, 0.35},
    {8, 8, 1, 1, 0.2},   {16, 4, 4, 1, 0.5}, {32, 2, 2, 1, 0.3}, {64, 1, 1, 1, 0.15}, {1, 1, 1, 1, 0.001},
};

struct Plan {
    Tile tile{};
    int64_t slices = 1, sliceDepth = 0;
    double score = -1;
};

class ConvGemm final : public ConvExecution {
  public:
    ConvGemm(VulkanBackend& backend, const Command& command)
        : ConvExecution(backend, command), weights_(backend, c_, convCodes(backend, c_, command_)) {}

    void onResize() override {
        weightSlices_ = weights_.prepare(backend(), command_.params, name());
        bias_ = weights_.bias(backend(), command_.params, name());
        form_ = c_.isPointwise() ? Form::Point : c_.transposed ? Form::Transposed : Form::Window;
        plan_ = choosePlan();
        const Tile& t = plan_.tile;
        const auto tail = static_cast<uint32_t>(c_.groupIn % kChannelBlock);
        const bool partial = plan_.slices > 1;
        std::vector<uint32_t> constants = {
            t.pixelThreads, t.quadThreads, t.pixels, t.quads, t.depth(), static_cast<uint32_t>(form_), tail};
        if (!partial) {
            constants.insert(constants.end(), {c_.postOps.code, false});
            weights_.addConstants(constants);
            pipeline_ = &outputPipeline(weights_.shader("conv_gemm"), 4, t.threads(), constants);
            return;
        }
        constants.insert(constants.end(), {0u, true});
        weights_.addConstants(constants);
        pipeline_ =
            &backend().pipeline(weights_.shader("conv_gemm"), output_.type, 4, t.threads(), constants);
        combine_ = &outputPipeline("conv_gemm_combine", 3, 64, {c_.postOps.code});
        requestScratch(partialBytes());
    }

    void encode(Recorder& recorder) override {
        const ConvWindow& w = c_.w;
        const bool transposed = form_ == Form::Transposed;
        const int64_t quads = outputQuads();
        const auto positive = [](int64_t value, int64_t stride) {
            return (value % stride + stride) % stride;
        };
        for (const ConvGemmWeights::Slice& slice : weightSlices_) {
            const int64_t quadTiles = ceilDiv(slice.quads, plan_.tile.tileQuads());
            const int64_t pixelTiles = ceilDiv(phasePixels(), plan_.tile.tilePixels());
            const Push push = Push()
                                  .u(quadTiles)
                                  .u(pixelTiles)
                                  .u(w.groups)
                                  .u(plan_.slices)
                                  .u(plan_.sliceDepth)
                                  .u(w.batch)
                                  .u(c_.inBlocks)
                                  .u(weights_.depthBlocks())
                                  .u(c_.outBlocks)
                                  .u(slice.quads)
                                  .u(slice.first)
                                  .u(w.ih)
                                  .u(w.iw)
                                  .u(w.oh)
                                  .u(w.ow)
                                  .u(c_.strideY)
                                  .u(c_.strideX)
                                  .u(transposed ? positive(-w.padTop, c_.strideY) : w.padTop)
                                  .u(transposed ? positive(-w.padLeft, c_.strideX) : w.padLeft)
                                  .u(transposed ? -c_.dilateY / std::gcd(c_.strideY, c_.dilateY) : c_.dilateY)
                                  .u(transposed ? -c_.dilateX / std::gcd(c_.strideX, c_.dilateX) : c_.dilateX)
                                  .u(w.kh)
                                  .u(w.kw)
                                  .u(c_.dilateY)
                                  .u(c_.dilateX)
                                  .u(w.padTop)
                                  .u(w.padLeft)
                                  .f(c_.postOps.lo)
                                  .f(c_.postOps.hi);
            const std::vector<Binding> bindings = {
                reads(input_), reads(*slice.block), reads(*bias_),
                combine_ ? scratch(0, partialBytes(), true) : writes(output_)};
            recorder.dispatch(*pipeline_, combine_ ? bindings : withResidual(bindings), push,
                              quadTiles * pixelTiles * w.groups * plan_.slices * phases());
        }
        if (!combine_) return;
        recorder.dispatch(
            *combine_, withResidual({scratch(0, partialBytes(), false), reads(*bias_), writes(output_)}),
            Push().u(quads).u(plan_.slices).u(c_.outBlocks).u(w.oh * w.ow).f(c_.postOps.lo).f(c_.postOps.hi),
            ceilDiv(quads, combine_->localSize));
    }

  private:
    enum class Form : uint8_t { Point, Window, Transposed };

    int64_t phases() const { return form_ == Form::Transposed ? c_.strideY * c_.strideX : 1; }
    // Pixels of the first phase: no other one has more.
    int64_t phasePixels() const {
        const bool transposed = form_ == Form::Transposed;
        return c_.w.batch * ceilDiv(c_.w.oh, transposed ? c_.strideY : 1) *
               ceilDiv(c_.w.ow, transposed ? c_.strideX : 1);
    }
    int64_t depth() const {
        const auto phaseTaps = [&](int64_t kernel, int64_t stride, int64_t dilate) {
            return form_ == Form::Transposed ? ceilDiv(kernel, stride / std::gcd(stride, dilate)) : kernel;
        };
        return phaseTaps(c_.w.kh, c_.strideY, c_.dilateY) * phaseTaps(c_.w.kw, c_.strideX, c_.dilateX) *
               weights_.depthBlocks();
    }
    int64_t outputQuads() const { return c_.w.batch * c_.outBlocks * c_.w.oh * c_.w.ow; }
    int64_t partialBytes() const { return plan_.slices * outputQuads() * 16; }

    // Chooses the tile that wastes little, keeps sums in registers and still fills the device.
    Plan choosePlan() const {
        const bool integrated = backend().gpu()->info().type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
        const double enough = integrated ? 4096 : 32768;  // invocations
        const Limits& limits = backend().limits();
        const int64_t quads = weights_.quadsPerSlice();
        Plan best;
        for (const Tile& tile : kTiles) {
            // Integrated devices have few registers.
            const bool fits = tile.threads() <= limits.groupInvocations &&
                              tile.sharedBytes() <= limits.sharedMemory &&
                              (!integrated || tile.pixels * tile.quads <= 8);
            if (!fits) continue;
            const int64_t tiles =
                ceilDiv(phasePixels(), tile.tilePixels()) * ceilDiv(quads, tile.tileQuads());
            const double covered = static_cast<double>(tiles) * tile.tilePixels() * tile.tileQuads();
            const double useful = static_cast<double>(phasePixels() * quads) / covered;
            const double invocations = static_cast<double>(tiles * c_.w.groups * phases()) * tile.threads();
            Plan plan{tile, 1, 0, 0};
            if (invocations < enough / 2) {
                const int64_t maxSlices = ceilDiv(depth(), tile.depth()) / kStepsPerSlice;
                const auto wanted = static_cast<int64_t>(enough / invocations);
                plan.slices = std::clamp<int64_t>(std::min(maxSlices, wanted), 1, kMaxSlices);
                if (plan.slices * outputQuads() * 16 > limits.storageRange) plan.slices = 1;
            }
            plan.sliceDepth = roundUp(ceilDiv(depth(), plan.slices), tile.depth());
            plan.slices = ceilDiv(depth(), plan.sliceDepth);
            const double filled = std::min(1.0, invocations * static_cast<double>(plan.slices) / enough);
            plan.score = useful * tile.speed * filled * (plan.slices > 1 ? 0.85 : 1.0);
            if (plan.score > best.score) best = plan;
        }
        if (best.score < 0) fail(Status::NotSupported, "the device has too little shared memory");
        return best;
    }

    const ConvGemmWeights weights_;
    std::vector<ConvGemmWeights::Slice> weightSlices_;
    VulkanBackend::WeightsPtr bias_;
    Form form_ = Form::Window;
    Plan plan_;
    const Pipeline* pipeline_ = nullptr;
    const Pipeline* combine_ = nullptr;
};

}  // namespace

std::unique_ptr<Execution> makeConvGemm(VulkanBackend& backend, const Command& command) {
    return std::make_unique<ConvGemm>(backend, command);
}

}  // namespace mnnc::vulkan
