// The pattern ResizedConvolution: a convolution whose input channels come from several tensors, one after the other,
// some of them resized. Winograd's transform of the input reads the resized rows while they are in the cache.
#include <algorithm>
#include <vector>

#include "backends/cpu/fusions/patterns.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/ops/packed_conv_weights.h"
#include "backends/cpu/ops/resizer.h"
#include "plan/graph.h"
#include "plan/single_operand.h"
#include "tensor/region_check.h"

namespace mnnc::cpu {
namespace {

using Id = CommandGraph::Id;

// The rows are given as packed channels.
ConvOptions optionsOf(const CpuBackend& backend, const Command& convolution) {
    ConvOptions options = convOptions(backend, convolution, windowOf(convolution));
    options.srcNchw = false;
    options.byRows = true;
    return options;
}

std::shared_ptr<ConvPlan> convolutionPlanOf(const CpuBackend& backend, const Command& convolution) {
    return makeConvPlan(backend.kernels(), planShape(windowOf(convolution), convolution.paramsAs<ConvParams>()),
                        optionsOf(backend, convolution));
}

// Returns the regions of a Raster in the order in which they fill its output.
std::vector<Region> regionsInOrder(const Command& raster) {
    std::vector<Region> regions = raster.regions;
    std::sort(regions.begin(), regions.end(),
              [](const Region& a, const Region& b) { return a.dst.offset < b.dst.offset; });
    return regions;
}

class ResizedConvolution final : public Execution, public AlgorithmChoice {
  public:
    ResizedConvolution(CpuBackend& backend, const Command& command)
        : backend_(backend),
          command_(command),
          body_(command_),
          plan_(std::static_pointer_cast<ConvPlan>(command.paramsAs<FusedParams>().prepared)) {}

    void prepare() override {
        weights_.prepare(backend_, convolution_, *plan_, windowOf(convolution_));
        post_ = postOps(convolution_);
        post_.bias = weights_.bias();
        const Shape& shape = convolution_.inputs[0]->shape;
        rowFloats_ = shape[3] * backend_.kernels().lanes;
        blocks_.clear();
        resizers_.clear();
        for (const Operand* source : channelSources()) {
            const Command* resize = resizeOf(source);
            int64_t blockFloats = shape[2] * rowFloats_;
            int resizer = -1;
            if (resize) {
                resizer = static_cast<int>(resizers_.size());
                resizers_.emplace_back().plan(backend_.kernels(), *resize);
                blockFloats = resizers_.back().sourceFloats();
            }
            const Operand* input = resize ? resize->inputs[0] : source;
            for (int64_t b = 0; b < ceilDiv(source->shape[1], int64_t{backend_.kernels().lanes}); ++b)
                blocks_.push_back({input, resizer, b * blockFloats});
        }
        requestScratch(plan_->scratchBytes(backend_.planningPool().threads()));
    }

    std::string algorithm() const override { return plan_->algorithm() + epilogueText(convolution_.epilogue); }

    std::vector<AlgorithmCandidate> candidates(bool measured) const override {
        std::vector<AlgorithmCandidate> out;
        appendCandidates(backend_, convolution_, optionsOf(backend_, convolution_), measured, out);
        return out;
    }

    void run(const Frame& frame) const override {
        plan_->rowFed()->runRows(Rows(*this, frame), weights_.packed(), frame.data<float>(*command_.outputs[0]), post_,
                                 frame.scratch(), frame.pool());
    }

  private:
    // The place from which a block of the convolution's channels is read.
    struct Block {
        const Operand* input;
        int resizer;     // -1: none
        int64_t offset;  // in the input
    };

    // The rows of one run.
    class Rows final : public RowSource {
      public:
        Rows(const ResizedConvolution& owner, const Frame& frame) : owner_(owner), frame_(frame) {}
        const float* rows(int block, int first, int end, float* strip) const override {
            return owner_.rows(frame_, block, first, end, strip);
        }

      private:
        const ResizedConvolution& owner_;
        const Frame& frame_;
    };

    // Returns the tensors that lie side by side along the convolution's channels.
    std::vector<const Operand*> channelSources() const {
        const Command& before = body_.steps()[body_.steps().size() - 2];
        if (before.type != OpType::Raster) return {before.outputs[0]};
        std::vector<const Operand*> sources;
        for (const Region& region : regionsInOrder(before))
            sources.push_back(before.inputs[static_cast<size_t>(region.input)]);
        return sources;
    }

    const Command* resizeOf(const Operand* tensor) const {
        for (const Command& step : body_.steps())
            if (step.type == OpType::Interp && step.outputs[0] == tensor) return &step;
        return nullptr;
    }

    const float* rows(const Frame& frame, int block, int first, int end, float* strip) const {
        const Block& b = blocks_[static_cast<size_t>(block)];
        const float* src = frame.data<const float>(*b.input) + b.offset;
        if (b.resizer < 0) return src + first * rowFloats_;
        const Resizer& resizer = resizers_[static_cast<size_t>(b.resizer)];
        for (int row = first; row < end; ++row) resizer.makeRow(src, row, strip + (row - first) * rowFloats_);
        return strip;
    }

    CpuBackend& backend_;
    const Command command_;
    const FusedBody body_;
    const Command& convolution_ = body_.steps().back();
    const std::shared_ptr<ConvPlan> plan_;
    PackedConvWeights weights_;
    PostOps post_;
    int64_t rowFloats_ = 0;
    std::vector<Block> blocks_;
    std::vector<Resizer> resizers_;
};

bool isResize(const Command& command) {
    return command.type == OpType::Interp && hasOneFloatOperand(command) && !command.epilogue.any();
}

// The tensors that a convolution may read in place of its input.
struct Sources {
    std::vector<Id> members;  // the commands that produce the input, in execution order
    int64_t resized = 0;      // elements
};

// Adds a source. Returns false where the source cannot be packed, or is written more than once: the fused command reads
// it later than the commands before fusion did.
bool addSource(const CommandGraph& graph, const Operand& source, Id consumer, Sources& sources) {
    const Operand* input = &source;
    const Id resize = graph.exclusiveProducer(input, consumer);
    if (resize != CommandGraph::kNone && isResize(graph.command(resize))) {
        // A Raster may read one resized map in several regions.
        if (std::find(sources.members.begin(), sources.members.end(), resize) == sources.members.end())
            sources.members.push_back(resize);
        sources.resized += source.elements() / source.shape[0];
        input = graph.command(resize).inputs[0];
    }
    return canPack(*input) && graph.producerCount(input) <= 1;
}

// Adds the tensors that a Raster puts side by side along the channels of `input`.
bool addConcatenated(const CommandGraph& graph, const Operand& input, Id raster, int channelBlock, Sources& sources) {
    const Command& command = graph.command(raster);
    if (command.type != OpType::Raster || input.shape[0] != 1) return false;
    int64_t end = 0, channels = 0;
    for (const Region& region : regionsInOrder(command)) {
        const Operand& from = *command.inputs[static_cast<size_t>(region.input)];
        const Shape& shape = from.shape;
        if (region.dst.offset != end || !isLinear(region, from.elements()) || shape.rank() != 4 || shape[0] != 1 ||
            shape[2] != input.shape[2] || shape[3] != input.shape[3] || from.type != input.type ||
            channels % channelBlock != 0 || !addSource(graph, from, raster, sources))
            return false;
        end += from.elements();
        channels += shape[1];
    }
    return end == input.elements() && channels == input.shape[1];
}

// Returns the group that ends with this convolution, without members where no group pays.
FusionMatch matchConvolution(const CommandGraph& graph, const CpuBackend& backend, Id id) {
    const Command& convolution = graph.command(id);
    const Operand &input = *convolution.inputs[0], &output = *convolution.outputs[0];
    const Id producer = graph.exclusiveProducer(&input, id);
    if (producer == CommandGraph::kNone || graph.storage(id).choice.blockOf(0) == 1 || input.shape.rank() != 4 ||
        input.empty() || output.empty() || !canPack(input) || !canPack(output))
        return {};
    Sources sources;
    if (isResize(graph.command(producer))) {
        if (!addSource(graph, input, id, sources)) return {};
    } else {
        if (!addConcatenated(graph, input, producer, backend.channelBlock(), sources)) return {};
        std::sort(sources.members.begin(), sources.members.end(), [&](Id a, Id b) { return graph.runsBefore(a, b); });
        sources.members.push_back(producer);
    }
    if (sources.resized < backend.kernels().costs->cache.minFusedMap / int64_t{sizeof(float)}) return {};
    std::shared_ptr<ConvPlan> plan = convolutionPlanOf(backend, convolution);
    if (!plan->rowFed()) return {};
    sources.members.push_back(id);
    return {std::move(sources.members), std::move(plan)};
}

std::vector<FusionMatch> matchResizedConvolution(const CommandGraph& graph, const Backend& backend) {
    std::vector<FusionMatch> matches;
    for (const Id id : graph.ids()) {
        const Command& command = graph.command(id);
        if (command.type != OpType::Convolution || !hasOneFloatOperand(command)) continue;
        FusionMatch found = matchConvolution(graph, cpuBackend(backend), id);
        if (!found.members.empty()) matches.push_back(std::move(found));
    }
    return matches;
}

StorageChoice storageResizedConvolution(const Backend& backend, const Command&) {
    StorageChoice choice;
    choice.inputBlock = choice.outputBlock = cpuBackend(backend).channelBlock();
    return choice;
}

std::unique_ptr<Execution> createResizedConvolution(Backend& backend, const Command& command, std::string&) {
    return std::make_unique<ResizedConvolution>(cpuBackend(backend), command);
}

}  // namespace

constinit const FusionPattern kResizedConvolution = {"ResizedConvolution", matchResizedConvolution,
                                                     storageResizedConvolution, createResizedConvolution};

}  // namespace mnnc::cpu
