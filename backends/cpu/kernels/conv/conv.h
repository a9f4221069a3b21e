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
    // The same results. Where nothing but weights is read, they are read from their end: see runInTurn().
    virtual void runBackwards(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
                              ThreadPool& pool) const {
        run(src, packed, dst, post, scratch, pool);
    }
    // Every second run goes backwards, so that it begins with the weights that the cache still has. number: of the run.
    void runInTurn(uint64_t number, const float* src, const void* packed, float* dst, const PostOps& post,
                   void* scratch, ThreadPool& pool) const {
        if (number % 2 != 0)
            runBackwards(src, packed, dst, post, scratch, pool);
        else
            run(src, packed, dst, post, scratch, pool);
    }
    // Whether PostOps::residual may be the output itself: each element is stored once, after its own was
    // read.
    virtual bool addsInPlace() const { return true; }

    // Abilities; null where the plan has not got it.
    //
    // Exactly one of these two: the plan packs float weights, or weights that stay quantised.
    virtual const FloatWeightPacker* floatPacker() const { return nullptr; }
    virtual const QuantizedWeightPacker* quantizedPacker() const { return nullptr; }
    // Only with ConvOptions::byRows.
    virtual const RowFedConv* rowFed() const { return nullptr; }
    virtual const TileableConv* tileable() const { return nullptr; }

    // Asks floatPacker(); throws Internal where weights stay quantised.
    void packWeights(const WeightReader& weights, void* packed, ThreadPool& pool) const;
    void packWeights(const float* weights, void* packed, ThreadPool& pool) const;
};

enum class ConvAlgorithm { Auto, Direct, Winograd2, Winograd4, Winograd6 };

struct ConvOptions {
    int groups = 1;
    int threads = 1;          // to plan for; run() takes any pool
    bool transposed = false;  // deconvolution: ih, iw is the small side
    bool srcNchw = false;     // src is row-major [N][ic][H][W]; only where convReadsNchw is true
    bool bf16 = false;        // products of bf16 where the kernels have them and the rounding is worth it
    bool exact = false;  // inputs are not rounded: quantised weights are expanded instead of multiplied as they are
    bool dstRowMajor = false;         // dst is row-major [N][oc]; only where convWritesRowMajor is true
    bool onePacking = false;          // packed weights do not depend on the size of the map
    bool lowMemory = false;           // float weights are not stored in a larger form
    bool byRows = false;              // plan for RowFedConv, where the algorithm can be
    WeightQuantization quantization;  // of weights that stay quantised where the algorithm allows it
    ConvAlgorithm algorithm = ConvAlgorithm::Auto;
};

// Whether a plan with srcNchw can be made: a dense forward convolution with few input channels, or a fully connected
// layer of floats.
bool convReadsNchw(const ConvShape& shape, const ConvOptions& options);

// Whether a plan with dstRowMajor can be made and is another one: a fully connected layer of floats, whose last block
// of output channels is not whole.
bool convWritesRowMajor(const Kernels& k, const ConvShape& shape, const ConvOptions& options);

// The plan of the implementation that is expected to be the fastest (conv_implementations.h). Throws
// InvalidValue for a shape that makes no sense, and NotSupported where nothing accepts it.
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
// All of them, in the order of the list.
std::vector<ConvCandidate> convCandidates(const Kernels& k, const ConvShape& shape, const ConvOptions& options);

}  // namespace mnnc
