// 3-D convolutions and transposed convolutions, by the plans of 2-D ones.
//
// An output slice (one depth of an image) is a 2-D convolution: the slices of the input that its taps in depth read
// become channels, side by side in scratch, taps outermost. Small slices are stacked, one below the other with rows of
// zeros between, so that one pass over the weights serves several.
#include "ops/convolution3d.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/cpu/kernels/conv/conv.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/depthwise_volume.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/volume_plan.h"
#include "backends/cpu/ops/volume_slices.h"
#include "base/checked.h"
#include "model/model.h"

namespace mnnc::cpu {

namespace {

constexpr int64_t kPixelsOfPiece = 1024;

struct Phase : DepthPhase {
    std::unique_ptr<ConvPlan> plan;
    PackedWeights packed;
};

class Convolution3dExecution final : public CommandExecution {
  public:
    Convolution3dExecution(CpuBackend& backend, const Command& command)
        : CommandExecution(command), backend_(backend), lanes_(backend.kernels().lanes) {}

    void prepare() override {
        phases_.clear();
        if (out().empty()) return;
        const auto& p = params<Conv3dParams>();
        const char* name = command().name.c_str();
        w_ = conv3dWindow(p, in(0).shape, name);
        constexpr int64_t kMaxPhases = 1 << 10;
        if (p.transposed && std::min<int64_t>(p.stride[0], w_.out[0]) > kMaxPhases)
            fail(Status::NotSupported, "%s has a stride of %d in depth, at most %lld is implemented", name, p.stride[0],
                 asLong(kMaxPhases));
        flat_ = isFlatVolume(p, w_) && in(0).channelBlock > 1;
        inArea_ = checkedMul(w_.in[1], w_.in[2], name);
        outArea_ = checkedMul(w_.out[1], w_.out[2], name);
        bias_ = paddedBias(p.bias(w_.oc, name).span().data(), static_cast<int>(w_.oc));
        post_ = volumePostOps(command());
        post_.bias = bias_.data();
        options_.groups = static_cast<int>(w_.groups);
        options_.threads = backend_.planningPool().threads();
        options_.transposed = p.transposed;
        options_.bf16 = backend_.config().precision == Precision::Low;
        options_.exact = backend_.config().precision == Precision::High;
        options_.lowMemory = backend_.config().memory == MemoryMode::Low;
        stack_ = {};
        if (!flat_ && !p.transposed) stack_ = chooseStack(backend_.kernels(), p, w_, options_, name);
        int64_t planBytes = 0, taps = 1;
        if (flat_)
            phases_.emplace_back();
        else
            for (DepthPhase& phase : depthPhases(p, w_)) phases_.push_back({std::move(phase), nullptr, nullptr});
        for (Phase& phase : phases_) {
            if (!flat_) taps = std::max(taps, static_cast<int64_t>(phase.taps.size()));
            plan(phase, p);
            planBytes = std::max(planBytes, phase.plan->scratchBytes(options_.threads));
        }
        if (flat_) return requestScratch(planBytes);
        const int64_t channels = roundUp(checkedMul(taps, w_.ic, name), lanes_);
        gathered_ = roundUp(floatBytes(checkedMul(channels, stack_.inRows(w_) * w_.in[2], name)), 64);
        const int64_t stacked = checkedMul(stack_.outRows(w_), w_.out[2], name);
        sliced_ = directOutput() ? 0 : roundUp(floatBytes(checkedMul(roundUp(w_.oc, lanes_), stacked, name)), 64);
        requestScratch(checkedAdd(checkedAdd(gathered_, sliced_, name), planBytes, name));
    }

    std::string algorithm() const override {
        if (phases_.empty()) return "";
        std::string text = flat_ ? "3d flat " : "3d ";
        text += phases_[0].plan->algorithm();
        return text += epilogueText(command().epilogue);
    }

    void run(const Frame& frame) const override {
        if (phases_.empty()) return;
        ThreadPool& pool = frame.pool();
        if (flat_) {
            const Phase& phase = phases_[0];
            phase.plan->runInTurn(frame.number(), inData<float>(frame, 0), phase.packed.get(), outData<float>(frame),
                                  post_, frame.scratch(), pool);
            return;
        }
        for (const Phase& phase : phases_)
            for (int64_t n = 0; n < w_.batch; ++n)
                for (int64_t z = phase.first, j = 0; z < w_.out[0]; z += stack_.slices * phase.step, j += stack_.slices)
                    runSlices(frame, phase, n, z, j, pool);
    }

  private:
    int64_t floatBytes(int64_t floats) const {
        return checkedMul(floats, static_cast<int64_t>(sizeof(float)), command().name.c_str());
    }

    // Returns whether the blocks of an output slice are contiguous.
    bool directOutput() const { return stack_.slices == 1 && (w_.out[0] == 1 || w_.oc <= lanes_); }

    void plan(Phase& phase, const Conv3dParams& p) {
        const auto taps = static_cast<int64_t>(phase.taps.size());
        const char* name = command().name.c_str();
        phase.plan = makeConvPlan(backend_.kernels(), flat_ ? flatShape(p, w_) : stackShape(p, w_, stack_, taps, name),
                                  options_);
        std::string variant = format("3d/%s/%s/%s/%lld", phase.plan->algorithm().c_str(),
                                     phase.plan->weightVariant().c_str(), backend_.kernels().isa, asLong(w_.groups));
        for (const DepthTap& tap : phase.taps) variant += format("/%lld", asLong(tap.k));
        const auto fill = [&](void* buffer) {
            const FloatView stored = p.weights(w_.weightCount, w_.oc, command().name.c_str());
            if (flat_) return phase.plan->packWeights(stored.data(), buffer, backend_.planningPool());
            const std::vector<float> ordered = phaseWeights(phase, p, w_, stored.data());
            phase.plan->packWeights(ordered.data(), buffer, backend_.planningPool());
        };
        phase.packed =
            backend_.weights(command().params, variant, phase.plan->packedWeightBytes(), fill, p.modelBytes());
    }

    // Computes output slices z, z + step, ... of image n, which are the phase's slices from j on.
    void runSlices(const Frame& frame, const Phase& phase, int64_t n, int64_t z, int64_t j, ThreadPool& pool) const {
        auto* memory = static_cast<char*>(frame.scratch());
        auto* const gathered = reinterpret_cast<float*>(memory);
        auto* const sliced = reinterpret_cast<float*>(memory + gathered_);
        const int64_t blocks = ceilDiv(static_cast<int64_t>(phase.taps.size()) * w_.ic, int64_t{lanes_});
        const int64_t pieces = ceilDiv(inArea_, kPixelsOfPiece);
        parallelRanges(pool, static_cast<int64_t>(blocks * stack_.slices * pieces), 4 * pool.threads(),
                       [&](int64_t begin, int64_t end) {
                           for (int64_t i = begin; i < end; ++i) {
                               const int64_t slice = i / pieces % stack_.slices;
                               gather(frame, phase, n, (j + slice) * phase.inputStep, i / pieces / stack_.slices,
                                      i % pieces * kPixelsOfPiece, slice, gathered);
                           }
                       });
        const int64_t outBlocks = ceilDiv(w_.oc, int64_t{lanes_}), area = outArea_ * lanes_;
        float* const dst = outData<float>(frame) + (n * outBlocks * w_.out[0] + z) * area;
        const bool direct = directOutput();
        phase.plan->run(gathered, phase.packed.get(), direct ? dst : sliced, post_, memory + gathered_ + sliced_, pool);
        if (direct) return;
        const int64_t slices = std::min(stack_.slices, ceilDiv(w_.out[0] - z, phase.step));
        const int64_t row = w_.out[2] * lanes_;
        parallelRanges(pool, static_cast<int64_t>(outBlocks * slices), 4 * pool.threads(),
                       [&](int64_t begin, int64_t end) {
                           for (int64_t i = begin; i < end; ++i) {
                               const int64_t b = i / slices, slice = i % slices;
                               std::memcpy(dst + (b * w_.out[0] + slice * phase.step) * area,
                                           sliced + (b * stack_.outRows(w_) + slice * stack_.outPitch) * row,
                                           static_cast<size_t>(area) * sizeof(float));
                           }
                       });
    }

    // Copies a piece of a slice, from pixel `from` on, of a block of the plan's channels, and the zeros behind the
    // slice.
    void gather(const Frame& frame, const Phase& phase, int64_t n, int64_t inputDepth, int64_t block, int64_t from,
                int64_t slice, float* gathered) const {
        const VolumeSlices volume(in(0), inData<float>(frame, 0), backend_.kernels());
        const auto taps = static_cast<int64_t>(phase.taps.size());
        const int64_t perGroup = w_.ic / w_.groups, channels = taps * w_.ic;
        const int64_t count = std::min<int64_t>(lanes_, channels - block * lanes_);
        const int64_t pixels = std::min(kPixelsOfPiece, inArea_ - from);
        float* const start = gathered + (block * stack_.inRows(w_) + slice * stack_.pitch) * w_.in[2] * lanes_;
        if (from + pixels == inArea_ && slice + 1 < stack_.slices)
            std::fill(start + inArea_ * lanes_, start + stack_.pitch * w_.in[2] * lanes_, 0.0f);
        const float* lanes[kMaxLanes] = {};
        bool none = true;
        for (int64_t l = 0; l < count; ++l) {
            const int64_t at = block * lanes_ + l, group = at / (taps * perGroup);
            const DepthTap& tap = phase.taps[static_cast<size_t>(at / perGroup % taps)];
            if (tap.k >= 0) lanes[l] = volume.channelAt(n, group * perGroup + at % perGroup, inputDepth + tap.offset);
            none &= !lanes[l];
        }
        float* const dst = start + from * lanes_;
        if (none)
            std::fill(dst, dst + pixels * lanes_, 0.0f);
        else
            volume.copy(lanes, count, from, pixels, dst);
    }

    CpuBackend& backend_;
    const int lanes_;
    Conv3dWindow w_;
    ConvOptions options_;
    PostOps post_;
    std::vector<float> bias_;
    std::vector<Phase> phases_;
    bool flat_ = false;
    SliceStack stack_;
    int64_t inArea_ = 0, outArea_ = 0;
    int64_t gathered_ = 0, sliced_ = 0;  // bytes of scratch
};

// The input is row-major, except where depth and plane are one image of blocks.
StorageChoice convolution3dStorage(const CpuBackend& backend, const Command& command) {
    StorageChoice choice = storagePacked(backend, command);
    if (isDepthwiseVolume(command)) return choice;
    const Operand& x = *command.inputs[0];
    if (x.channelBlock == 1 && !x.empty()) {
        const auto& p = command.paramsAs<Conv3dParams>();
        if (!isFlatVolume(p, conv3dWindow(p, x.shape, command.name.c_str()))) choice.inputBlock = 1;
    }
    return choice;
}

std::unique_ptr<Execution> createConvolution3d(CpuBackend& backend, const Command& command, std::string& reason) {
    if (command.inputs[0]->type != DataType::Float32)
        return refuse(reason, format("%s: a 3-D convolution of %s is not implemented", command.name.c_str(),
                                     dataTypeName(command.inputs[0]->type)));
    if (isDepthwiseVolume(command)) return makeDepthwiseVolume(backend, command);
    return std::make_unique<Convolution3dExecution>(backend, command);
}

// A clamp of the operator itself would have to precede the epilogue, so the operator must have none.
bool fusesConvolution3d(const CpuBackend&, const Command& command) {
    const auto* params = command.paramsIf<Conv3dParams>();
    return params && !params->relu && !params->relu6 && !command.epilogue.residual && canPack(*command.outputs[0]);
}

}  // namespace

constexpr CpuOp kConvolution3dCpu[] = {
    {OpType::Convolution3D, convolution3dStorage, createConvolution3d, fusesConvolution3d},
    {OpType::ConvTranspose3D, convolution3dStorage, createConvolution3d, fusesConvolution3d},
};
extern constinit const CpuFamily convolution3dCpu = kConvolution3dCpu;

}  // namespace mnnc::cpu
