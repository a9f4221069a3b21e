// Float convolutions over the packed layout [N][ceil(C/P)][H][W][P].
//
// Lanes past the last channel are never read into a result (they may be NaN in the input); in the output they
// are unspecified. Every output is summed in one fixed order: the number of threads never changes a bit.
#pragma once
#include <memory>
#include <vector>

#include "backends/cpu/kernels/conv_plan.h"
#include "backends/cpu/kernels/conv_types.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

class ConvPlan : public ConvPlanBase {
  public:
    virtual void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
                     ThreadPool& pool) const = 0;
    // Gives the same results as run(). Where a run reads little but weights, this one begins with the last of them: see
    // runInTurn().
    virtual void runBackwards(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
                              ThreadPool& pool) const {
        run(src, packed, dst, post, scratch, pool);
    }
    // Every second run goes backwards, so that it begins with the weights that are still in the cache. `number` counts
    // the runs.
    void runInTurn(uint64_t number, const float* src, const void* packed, float* dst, const PostOps& post,
                   void* scratch, ThreadPool& pool) const {
        if (number % 2 != 0)
            runBackwards(src, packed, dst, post, scratch, pool);
        else
            run(src, packed, dst, post, scratch, pool);
    }
    // Whether PostOps::residual may be the output itself: each element is stored once, after the residual's element was
    // read.
    virtual bool addsInPlace() const { return true; }

    // Abilities of the plan: each is null where the plan lacks it.
    //
    // A plan has exactly one of these two packers: for float weights, or for weights that stay quantised.
    virtual const FloatWeightPacker* floatPacker() const { return nullptr; }
    virtual const QuantizedWeightPacker* quantizedPacker() const { return nullptr; }
    // Only a plan that was made with ConvOptions::byRows can be fed by rows.
    virtual const RowFedConv* rowFed() const { return nullptr; }
    virtual const TileableConv* tileable() const { return nullptr; }

    // Calls floatPacker(). Throws Internal where weights stay quantised.
    void packWeights(const WeightReader& weights, void* packed, ThreadPool& pool) const;
    void packWeights(const float* weights, void* packed, ThreadPool& pool) const;
};

// The places of outputs in a larger map of h x w pixels. A convolution has the channels of phase (0, 0), then those of
// phase (0, 1) and so on. Pixel (y, x) of phase (py, px) is stored at (y * stepY + py - dropY, x * stepX + px - dropX),
// unless that is outside of the map.
struct OutputPhases {
    int stepY = 1, stepX = 1, dropY = 0, dropX = 0;
    int h = 0, w = 0;

    int count() const { return stepY * stepX; }
};

enum class ConvAlgorithm { Auto, Direct, Winograd2, Winograd4, Winograd6 };

struct ConvOptions {
    int groups = 1;
    int threads = 1;          // the number to plan for; run() takes any pool
    bool transposed = false;  // deconvolution: ih, iw is the small side
    bool srcNchw = false;     // src is row-major [N][ic][H][W]; only where convReadsNchw is true
    bool bf16 = false;        // multiply bf16 where the kernels can and the gain is worth the rounding
    bool exact = false;  // inputs are not rounded: quantised weights are expanded instead of multiplied as they are
    bool dstRowMajor = false;   // dst is row-major [N][oc]; only where convWritesRowMajor is true
    bool onePacking = false;    // packed weights do not depend on the size of the map
    bool lowMemory = false;     // float weights are not stored in a larger form
    bool byRows = false;        // plan for RowFedConv, where the algorithm supports it
    bool packedInRuns = false;  // weights are packed in each run, which allocates nothing
    // Where outputs and residuals lie, or null. They are read while the plan is made, and only where
    // ConvImplementation::storesPhases is set. A phase has whole blocks of channels; the bias has those of one phase.
    const OutputPhases* phases = nullptr;
    WeightQuantization quantization;  // the form of weights that stay quantised where the algorithm allows it
    ConvAlgorithm algorithm = ConvAlgorithm::Auto;
};

// Returns whether a plan with srcNchw can be made: for a dense forward convolution with few input channels, or a fully
// connected layer of floats.
bool convReadsNchw(const ConvShape& shape, const ConvOptions& options);

// Returns whether a plan with dstRowMajor can be made and differs from the packed one: for a fully connected layer of
// floats whose last block of output channels is not full.
bool convWritesRowMajor(const Kernels& k, const ConvShape& shape, const ConvOptions& options);

// Returns the plan of the implementation that is expected to be the fastest (conv_implementations.h). Throws
// InvalidValue for a shape that makes no sense, and NotSupported where no implementation accepts it.
std::unique_ptr<ConvPlan> makeConvPlan(const Kernels& k, const ConvShape& shape, const ConvOptions& options);

inline std::unique_ptr<ConvPlan> makeConvPlan(const Kernels& k, const ConvShape& shape, int groups, int threads) {
    ConvOptions options;
    options.groups = groups;
    options.threads = threads;
    return makeConvPlan(k, shape, options);
}

struct ConvImplementation;

// An implementation that accepts a convolution.
struct ConvCandidate {
    const ConvImplementation* implementation;
    const char* name;
    double cycles;  // an estimate for one thread
    bool chosen;    // makeConvPlan takes this one
};
// Returns all candidates, in the order of the list.
std::vector<ConvCandidate> convCandidates(const Kernels& k, const ConvShape& shape, const ConvOptions& options);

}  // namespace mnnc
