// Convolutions over the packed layout [N][ceil(C/P)][H][W][P].
//
// A plan is made once per shape, picks the algorithm, tells how much packed weight and scratch it needs, and
// is then immutable: run() may be called by several threads at once as long as each brings its own scratch
// and output. Lanes past the last channel are never read into a result (they may be NaN in the input); in the
// output they are unspecified. Every output is summed in one fixed order: the number of threads never changes
// a bit.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/conv_types.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

struct QuantizedWeights;  // model/weights.h
class TileableConv;       // conv_plans.h

// An input that does not lie in one place: rows of a block of channels, found or made when they are wanted.
class RowSource {
  public:
    virtual ~RowSource() = default;
    // Rows first .. end of channel block `block`, one after the other. `strip` is memory for as many, its content
    // the caller's to keep no longer than what is returned.
    virtual const float* rows(int block, int first, int end, float* strip) const = 0;
};

// How the model stores quantised weights.
struct WeightQuantization {
    int bits = 0;        // 8 or 4; 0: they are floats
    int blocks = 1;      // per output channel, each with a scale and an offset of its own
    bool minima = true;  // whether there are offsets
};

class ConvPlan {
  public:
    virtual ~ConvPlan() = default;
    virtual size_t packedWeightBytes() const = 0;
    // Weights as the model has them: convolution [oc][ic/groups][kh][kw], deconvolution
    // [ic][oc/groups][kh][kw]. Many are asked for in stretches, in order: `weights` gives `count` of them from `first`
    // on, which stay there until it is asked again.
    using WeightReader = std::function<const float*(size_t first, size_t count)>;
    virtual void packWeights(const WeightReader& weights, void* packed, ThreadPool& pool) const = 0;
    void packWeights(const float* weights, void* packed, ThreadPool& pool) const {
        packWeights([weights](size_t first, size_t) { return weights + first; }, packed, pool);
    }
    // Whether the weights stay quantised: then this packs them, not packWeights.
    virtual bool keepsCodes() const { return false; }
    virtual void packCodes(const QuantizedWeights&, void*, ThreadPool&) const {}
    // Two plans with the same variant pack the same weights to the same bytes.
    virtual std::string weightVariant() const = 0;
    // For a pool of that many threads. Scratch is aligned to 64 bytes by the caller.
    virtual size_t scratchBytes(int threads) const = 0;
    virtual void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
                     ThreadPool& pool) const = 0;
    // With ConvOptions::byRows: whether the plan reads its input from a RowSource, of several threads at once. Then
    // this takes the place of run().
    virtual bool readsRows() const { return false; }
    virtual void runRows(const RowSource&, const void* /*packed*/, float* /*dst*/, const PostOps&,
                         void* /*scratch*/, ThreadPool&) const {}
    // Whether PostOps::residual may be the output itself: each element is stored once, after its own was read.
    virtual bool addsInPlace() const { return true; }
    // For other plans that make this one's output piece by piece; null: it cannot be.
    virtual const TileableConv* parts() const { return nullptr; }
    // "gemm1x1", "direct", "winograd4", "depthwise", "grouped", "first", "deconv", "depthwise_deconv"; with
    // ".bf16" or ".int16" behind it when the products are of those, ".w8" or ".w4" when the weights stay
    // quantised.
    virtual std::string algorithm() const = 0;
};

enum class ConvAlgorithm { Auto, Direct, Winograd2, Winograd4, Winograd6 };

struct ConvOptions {
    int groups = 1;
    int threads = 1;          // what to plan for; run() takes any pool
    bool transposed = false;  // deconvolution: ih, iw is the small side
    bool srcNchw = false;     // src is plain [N][ic][H][W] (first layer); only where convReadsNchw says so
    bool bf16 = false;        // products of bf16 where the kernels have them and the rounding is worth it
    bool exact = false;       // no rounding of inputs: codes are expanded instead of multiplied
    bool byRows = false;      // plan for runRows(), where the plan's kind has it
    WeightQuantization quantization;  // of weights that stay quantised where the plan's kind allows it
    ConvAlgorithm algorithm = ConvAlgorithm::Auto;
};

// Whether a plan with srcNchw can be made: a dense forward convolution with few input channels.
bool convReadsNchw(const ConvShape& shape, int groups);

std::unique_ptr<ConvPlan> makeConvPlan(const Kernels& k, const ConvShape& shape, const ConvOptions& options);

inline std::unique_ptr<ConvPlan> makeConvPlan(const Kernels& k, const ConvShape& shape, int groups,
                                              int threads) {
    ConvOptions options;
    options.groups = groups;
    options.threads = threads;
    return makeConvPlan(k, shape, options);
}

}  // namespace mnnc
