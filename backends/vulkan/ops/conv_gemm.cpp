// Convolutions as products of matrices: conv_gemm.comp, its tiles, and slices of the depth where there would be too few
// work groups.
#include <algorithm>
#include <numeric>

#include "backends/vulkan/ops/convolution.h"
#include "backends/vulkan/tuner.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kMaxSlices = 16;
constexpr int64_t kStepsPerSlice = 8;  // the minimum

struct Tile {
    uint32_t pixelThreads, quadThreads, pixels, quads;
    double speed;  // with a device full of work, relative to the first tile; it follows the products per shared read

    uint32_t threads() const { return pixelThreads * quadThreads; }
    uint32_t tilePixels() const { return pixelThreads * pixels; }
    uint32_t tileQuads() const { return quadThreads * quads; }
    // Each invocation stages at least one pixel of a step, so that none is idle.
    uint32_t depth() const { return std::max(4u, threads() / tilePixels()); }
    uint32_t sharedBytes() const { return depth() * (tilePixels() + 4 * tileQuads()) * 16; }
};

// Invocations are a multiple of a tile's pixels, because each stages one pixel.
constexpr Tile kTiles[] = {
    {16, 16, 8, 2, 1.0}, {8, 8, 8, 2, 0.9},  {8, 8, 4, 2, 0.75}, {8, 8, 4, 1, 0.55},  {8, 8, 2, 1, 0.35},
    {8, 8, 1, 1, 0.2},   {16, 4, 4, 1, 0.5}, {32, 2, 2, 1, 0.3}, {64, 1, 1, 1, 0.15}, {1, 1, 1, 1, 0.001},
};

struct TilePlan {
    size_t tileIndex = 0;
    int64_t slices = 1, sliceDepth = 0;
    double score = -1;

    const Tile& tile() const { return kTiles[tileIndex]; }
    // The number that the tuning record keeps for the plan.
    uint32_t choice() const { return static_cast<uint32_t>(tileIndex | static_cast<uint64_t>(slices) << 8); }
};

// A plan with its pipelines.
struct Made {
    TilePlan plan;
    const Pipeline* product = nullptr;
    const Pipeline* combine = nullptr;  // null: there is one slice
};

// The buffers that the dispatches read and write. `residual` is used where the convolution has one.
struct Operands {
    Binding input, output, partialWritten, partialRead, residual;
};

class ConvGemm final : public ConvExecution {
  public:
    ConvGemm(VulkanBackend& backend, const Command& command)
        : ConvExecution(backend, command), weights_(backend, c_, convCodes(backend, c_, command_)) {}

    void prepare() override {
        weightSlices_ = weights_.prepare(backend(), command_.params, name());
        bias_ = weights_.bias(backend(), command_.params, name());
        form_ = c_.isPointwise() ? Form::Point : c_.transposed ? Form::Transposed : Form::Window;
        made_ = make(choosePlan());
        if (made_.combine) requestScratch(partialBytes(made_.plan));
    }

    std::string algorithm() const override {
        const Tile& tile = made_.plan.tile();
        const std::string text = format("product %ux%u", tile.tilePixels(), tile.tileQuads() * kChannelBlock);
        return made_.plan.slices == 1 ? text : text + format(" in %lld slices", asLong(made_.plan.slices));
    }

    void encode(FrameRecorder& recorder) const override {
        Operands operands{recorder.reads(input_), recorder.writes(output_), {}, {}, {}};
        if (made_.combine) {
            operands.partialWritten = recorder.scratch(0, partialBytes(made_.plan), true);
            operands.partialRead = recorder.scratch(0, partialBytes(made_.plan), false);
        }
        if (c_.postOps.residual) operands.residual = recorder.reads(*command_.inputs.back());
        encode(recorder, made_, operands);
    }

  private:
    enum class Form : uint8_t { Point, Window, Transposed };

    Made make(const TilePlan& plan) {
        const Tile& t = plan.tile();
        std::vector<uint32_t> constants = {t.pixelThreads,
                                           t.quadThreads,
                                           t.pixels,
                                           t.quads,
                                           t.depth(),
                                           static_cast<uint32_t>(form_),
                                           static_cast<uint32_t>(c_.groupIn % kChannelBlock)};
        const std::string shader = weights_.shader("conv_gemm");
        if (plan.slices == 1) {
            constants.insert(constants.end(), {c_.postOps.code, false});
            weights_.addConstants(constants);
            return {plan, &outputPipeline(shader, 4, t.threads(), constants), nullptr};
        }
        constants.insert(constants.end(), {0u, true});
        weights_.addConstants(constants);
        return {plan, &backend().pipeline(shader, output_.type, 4, t.threads(), constants),
                &outputPipeline("conv_gemm_combine", 3, 64, {c_.postOps.code})};
    }

    void encode(Recorder& recorder, const Made& made, const Operands& operands) const {
        const TilePlan& plan = made.plan;
        const auto withResidual = [&](std::vector<Binding> bindings) {
            if (c_.postOps.residual) bindings.push_back(operands.residual);
            return bindings;
        };
        const ConvWindow& w = c_.w;
        const bool transposed = form_ == Form::Transposed;
        const int64_t quads = outputQuads();
        const auto positive = [](int64_t value, int64_t stride) { return (value % stride + stride) % stride; };
        for (const ConvGemmWeights::Slice& slice : weightSlices_) {
            const int64_t quadTiles = ceilDiv(slice.quads, plan.tile().tileQuads());
            const int64_t pixelTiles = ceilDiv(phasePixels(), plan.tile().tilePixels());
            const Push push =
                Push()
                    .u(quadTiles, pixelTiles, w.groups, plan.slices, plan.sliceDepth, w.batch, c_.inBlocks,
                       weights_.depthBlocks(), c_.outBlocks, slice.quads, slice.first, w.ih, w.iw, w.oh, w.ow,
                       c_.strideY, c_.strideX, transposed ? positive(-w.padTop, c_.strideY) : w.padTop,
                       transposed ? positive(-w.padLeft, c_.strideX) : w.padLeft,
                       transposed ? -c_.dilateY / std::gcd(c_.strideY, c_.dilateY) : c_.dilateY,
                       transposed ? -c_.dilateX / std::gcd(c_.strideX, c_.dilateX) : c_.dilateX, w.kh, w.kw, c_.dilateY,
                       c_.dilateX, w.padTop, w.padLeft)
                    .f(c_.postOps.lo, c_.postOps.hi);
            const std::vector<Binding> bindings = {operands.input, FrameRecorder::reads(*slice.block),
                                                   FrameRecorder::reads(*bias_),
                                                   made.combine ? operands.partialWritten : operands.output};
            recorder.dispatch(*made.product, made.combine ? bindings : withResidual(bindings), push,
                              quadTiles * pixelTiles * w.groups * plan.slices * phases());
        }
        if (!made.combine) return;
        recorder.dispatch(*made.combine,
                          withResidual({operands.partialRead, FrameRecorder::reads(*bias_), operands.output}),
                          Push().u(quads, plan.slices, c_.outBlocks, w.oh * w.ow).f(c_.postOps.lo, c_.postOps.hi),
                          ceilDiv(quads, made.combine->localSize));
    }

    int64_t phases() const { return form_ == Form::Transposed ? c_.strideY * c_.strideX : 1; }
    // Returns the pixels of the first phase, which has the most.
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
    int64_t partialBytes(const TilePlan& plan) const { return plan.slices * outputQuads() * 16; }

    // Returns the measured plan where tuning is enabled, else the best by estimate.
    TilePlan choosePlan() {
        std::vector<TilePlan> plans = candidates(backend().tuning() != GpuTuning::None);
        if (plans.empty()) fail(Status::NotSupported, "the device has too little shared memory");
        const GpuTuning tuning = backend().tuning();
        const size_t count = std::min(plans.size(), tunedCandidates(tuning));
        if (count < 2) return plans.front();
        // The plan that the estimate prefers without measurements comes first.
        const uint32_t estimated = candidates(false).front().choice();
        const auto first =
            std::find_if(plans.begin(), plans.end(), [&](const TilePlan& plan) { return plan.choice() == estimated; });
        if (first != plans.end()) std::rotate(plans.begin(), first, first + 1);
        plans.resize(count);
        TuningRecord& record = backend().gpu()->tuning();
        const std::string problem = problemText(tuning);
        const std::optional<uint32_t> known = record.find(problem);
        const auto found =
            std::find_if(plans.begin(), plans.end(), [&](const TilePlan& plan) { return known == plan.choice(); });
        if (found != plans.end()) return *found;
        if (!backend().measuresOneMore()) return plans.front();
        const std::optional<size_t> fastest = whereMemorySuffices([&] { return measure(plans); });
        if (!fastest) return plans.front();
        record.keep(problem, plans[*fastest].choice());
        return plans[*fastest];
    }

    // Returns everything that affects the time.
    std::string problemText(GpuTuning tuning) const {
        const ConvWindow& w = c_.w;
        std::string text = weights_.shader("conv_gemm") + (weights_.halfBytes() ? " half bytes" : "") +
                           (backend().half() ? "_f16" : "");
        for (const int64_t number : {int64_t{static_cast<uint8_t>(tuning)},
                                     int64_t{static_cast<uint8_t>(form_)},
                                     int64_t{w.batch},
                                     int64_t{w.groups},
                                     int64_t{c_.groupIn},
                                     int64_t{c_.groupOut},
                                     int64_t{w.ih},
                                     int64_t{w.iw},
                                     int64_t{w.oh},
                                     int64_t{w.ow},
                                     int64_t{w.kh},
                                     int64_t{w.kw},
                                     c_.strideY,
                                     c_.strideX,
                                     c_.dilateY,
                                     c_.dilateX,
                                     int64_t{w.padTop},
                                     int64_t{w.padLeft},
                                     int64_t{c_.postOps.code},
                                     int64_t{c_.postOps.residual}})
            text += " " + std::to_string(number);
        return text;
    }

    // Measures over memory of its own, because that of the tensors is not planned yet.
    size_t measure(const std::vector<TilePlan>& plans) {
        int64_t partial = 0;
        std::vector<Made> made;
        for (const TilePlan& plan : plans) {
            made.push_back(make(plan));
            if (plan.slices > 1) partial = std::max(partial, partialBytes(plan));
        }
        const int64_t outputBytes = backend().storageBytes(output_);
        const MeasuredBlock input(backend(), backend().storageBytes(input_)), output(backend(), outputBytes),
            residual(backend(), c_.postOps.residual ? outputBytes : 1), sums(backend(), partial);
        return fastestCandidate(backend(), made.size(), [&](Recorder& recorder, size_t i) {
            encode(recorder, made[i], {input.read(), output.written(), sums.written(), sums.read(), residual.read()});
        });
    }

    // Returns the plans that the device can run, the best by estimate first: those that waste little, keep sums in
    // registers and still fill the device. toMeasure: include other numbers of slices than the estimate.
    std::vector<TilePlan> candidates(bool toMeasure) const {
        const bool integrated = backend().gpu()->info().type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
        const Limits& limits = backend().limits();
        std::vector<TilePlan> plans;
        for (size_t i = 0; i < std::size(kTiles); ++i) {
            const Tile& tile = kTiles[i];
            // Integrated devices have few registers.
            if (tile.threads() > limits.groupInvocations || tile.sharedBytes() > limits.sharedMemory ||
                (integrated && tile.pixels * tile.quads > 8))
                continue;
            const int64_t wanted = estimatedSlices(i, integrated);
            plans.push_back(planOf(i, wanted, integrated));
            if (!toMeasure) continue;
            for (const int64_t slices : {wanted / 2, wanted * 2, int64_t{1}}) {
                const TilePlan other = planOf(i, std::clamp<int64_t>(slices, 1, kMaxSlices), integrated);
                if (std::none_of(plans.begin(), plans.end(),
                                 [&](const TilePlan& plan) { return plan.choice() == other.choice(); }))
                    plans.push_back(other);
            }
        }
        std::stable_sort(plans.begin(), plans.end(),
                         [](const TilePlan& a, const TilePlan& b) { return a.score > b.score; });
        return plans;
    }

    double enoughInvocations(bool integrated) const { return integrated ? 4096 : 32768; }
    int64_t tilesOf(const Tile& tile) const {
        return ceilDiv(phasePixels(), tile.tilePixels()) * ceilDiv(weights_.quadsPerSlice(), tile.tileQuads());
    }
    double invocationsOf(const Tile& tile) const {
        return static_cast<double>(tilesOf(tile) * c_.w.groups * phases()) * tile.threads();
    }

    // Returns how many slices of the depth fill the device.
    int64_t estimatedSlices(size_t tileIndex, bool integrated) const {
        const Tile& tile = kTiles[tileIndex];
        const double invocations = invocationsOf(tile), enough = enoughInvocations(integrated);
        if (invocations >= enough / 2) return 1;
        const int64_t maxSlices = ceilDiv(depth(), tile.depth()) / kStepsPerSlice;
        return std::clamp<int64_t>(std::min(maxSlices, static_cast<int64_t>(enough / invocations)), 1, kMaxSlices);
    }

    TilePlan planOf(size_t tileIndex, int64_t slices, bool integrated) const {
        const Tile& tile = kTiles[tileIndex];
        if (slices * outputQuads() * 16 > backend().limits().storageRange) slices = 1;
        TilePlan plan{tileIndex, 1, 0, 0};
        plan.sliceDepth = roundUp(ceilDiv(depth(), slices), tile.depth());
        plan.slices = ceilDiv(depth(), plan.sliceDepth);
        const double covered = static_cast<double>(tilesOf(tile)) * tile.tilePixels() * tile.tileQuads();
        const double useful = static_cast<double>(phasePixels() * weights_.quadsPerSlice()) / covered;
        const double filled =
            std::min(1.0, invocationsOf(tile) * static_cast<double>(plan.slices) / enoughInvocations(integrated));
        plan.score = useful * tile.speed * filled * (plan.slices > 1 ? 0.85 : 1.0);
        return plan;
    }

    const ConvGemmWeights weights_;
    std::vector<ConvGemmWeights::Slice> weightSlices_;
    VulkanBackend::WeightsPtr bias_;
    Form form_ = Form::Window;
    Made made_;
};

}  // namespace

std::unique_ptr<Execution> makeConvGemm(VulkanBackend& backend, const Command& command) {
    return std::make_unique<ConvGemm>(backend, command);
}

}  // namespace mnnc::vulkan
