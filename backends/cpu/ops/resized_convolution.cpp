// ResizedConvolution on the CPU: Winograd's transform of the input reads resized rows while they are in the cache.
#include "ops/resized_convolution.h"

#include <vector>

#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/resizer.h"
#include "backends/cpu/ops/stored_conv.h"
#include "base/error.h"

namespace mnnc::cpu {
namespace {

// Resized maps of fewer bytes stay in the second level cache as a whole. Measured on whole nets.
constexpr int64_t kLeastBytes = 768 << 10;

const ResizedConvolutionParams& paramsOf(const Command& command) {
    return command.paramsAs<ResizedConvolutionParams>();
}

std::unique_ptr<ConvPlan> planOf(const CpuBackend& backend, const Command& convolution) {
    const ConvWindow w = windowOf(convolution);
    ConvOptions options = convOptions(backend, convolution, w);
    options.srcNchw = false;  // storagePacked(), whatever the input is stored as while commands are joined
    options.byRows = true;
    return makeConvPlan(backend.kernels(), planShape(w, convolution.paramsAs<ConvParams>()), options);
}

class ResizedConvolution final : public Execution, RowSource {
  public:
    ResizedConvolution(CpuBackend& backend, const Command& command)
        : backend_(backend), command_(command), convolution_(paramsOf(command).convolution) {}

    void onResize() override {
        plan_ = planOf(backend_, convolution_);
        if (!plan_->readsRows())  // canFuse() has asked the same
            fail(Status::BadState, "op '%s': %s does not read its input by rows", command_.name.c_str(),
                 plan_->algorithm().c_str());
        weights_.prepare(backend_, convolution_, *plan_, windowOf(convolution_));
        post_ = postOps(convolution_);
        post_.bias = weights_.bias();
        const Shape& shape = convolution_.inputs[0]->shape;
        rowFloats_ = shape[3] * backend_.kernels().lanes;
        blocks_.clear();
        resizers_.clear();
        for (size_t i = 0; i < paramsOf(command_).parts.size(); ++i) {
            const ResizedConvolutionParams::Part& part = paramsOf(command_).parts[i];
            int64_t blockFloats = shape[2] * rowFloats_;
            int resizer = -1;
            if (part.resize) {
                resizer = static_cast<int>(resizers_.size());
                resizers_.emplace_back().plan(backend_.kernels(), *part.resize);
                blockFloats = resizers_.back().sourceFloats();
            }
            for (int64_t b = 0; b < ceilDiv(part.channels, backend_.kernels().lanes); ++b)
                blocks_.push_back({i, resizer, b * blockFloats});
        }
        requestScratch(static_cast<int64_t>(plan_->scratchBytes(backend_.pool().threads())));
    }

    std::string algorithm() const override {
        return plan_ ? plan_->algorithm() + epilogueText(convolution_.epilogue) : "";
    }

    void onExecute() override {
        plan_->runRows(*this, weights_.packed(), command_.outputs[0]->as<float>(), post_, scratch(),
                       backend_.pool());
    }

  private:
    // A block of the convolution's channels.
    struct Block {
        size_t input;
        int resizer;     // -1: none
        int64_t offset;  // in the input
    };

    const float* rows(int block, int first, int end, float* strip) const override {
        const Block& b = blocks_[static_cast<size_t>(block)];
        const float* src = command_.inputs[b.input]->as<const float>() + b.offset;
        if (b.resizer < 0) return src + first * rowFloats_;
        const Resizer& resizer = resizers_[static_cast<size_t>(b.resizer)];
        for (int row = first; row < end; ++row) resizer.makeRow(src, row, strip + (row - first) * rowFloats_);
        return strip;
    }

    CpuBackend& backend_;
    const Command command_;
    const Command& convolution_;  // of command_
    std::unique_ptr<ConvPlan> plan_;
    StoredConv weights_;
    PostOps post_;
    int64_t rowFloats_ = 0;
    std::vector<Block> blocks_;
    std::vector<Resizer> resizers_;
};

StorageChoice resizedConvolutionStorage(const CpuBackend& backend, const Command& command) {
    StorageChoice choice = storagePacked(backend, command);
    choice.plainInputs = 0;
    return choice;
}

std::unique_ptr<Execution> createResizedConvolution(CpuBackend& backend, const Command& command,
                                                    std::string&) {
    return std::make_unique<ResizedConvolution>(backend, command);
}

bool fusesResizedConvolution(const CpuBackend& backend, const Command& command) {
    const Command& convolution = paramsOf(command).convolution;
    const Tensor &input = *convolution.inputs[0], &output = *convolution.outputs[0];
    if (input.empty() || output.empty() || !canPack(input) || !canPack(output)) return false;
    int64_t channel = 0, resized = 0;
    for (size_t i = 0; i < command.inputs.size(); ++i) {
        const ResizedConvolutionParams::Part& part = paramsOf(command).parts[i];
        if (!canPack(*command.inputs[i]) || channel % backend.pack() != 0) return false;
        channel += part.channels;
        if (part.resize) resized += part.resize->outputs[0]->elements() / input.shape[0];
    }
    if (channel != input.shape[1]) return false;
    return resized >= kLeastBytes / int64_t{sizeof(float)} && planOf(backend, convolution)->readsRows();
}

}  // namespace

CpuFamily resizedConvolutionCpu() {
    static constexpr CpuOp kOps[] = {{OpType::ResizedConvolution, resizedConvolutionStorage,
                                      createResizedConvolution, fusesResizedConvolution}};
    return kOps;
}

}  // namespace mnnc::cpu
