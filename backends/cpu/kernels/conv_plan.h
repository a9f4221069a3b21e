// The life cycle that plans of float and of int8 convolutions share, and the abilities that some of them have.
//
// A plan is made once per shape, knows how much packed weight and scratch it needs, and is then immutable:
// run() may be called by several threads at once as long as each brings its own scratch and output.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/conv_types.h"
#include "backends/cpu/kernels/out_panel.h"

namespace mnnc {

class ConvPlanBase {
  public:
    virtual ~ConvPlanBase() = default;
    // Returns a name for people and tests: "gemm1x1", "direct", "clipped", "clipped deconv", "few outputs",
    // "winograd4", "dilated winograd4", "phased direct", "separate winograd4", "depthwise", "grouped", "first",
    // "deconv", "depthwise_deconv". Winograd's names add a window other than 3x3 and a stride: "winograd2.5x5.stride2".
    // ".bf16", ".fp16" or ".int16" follow when the products are of that type, ".taps" when each run transforms
    // Winograd's weights, ".w8" or ".w4" when the weights stay quantised. Names of int8 plans begin with "int8 ".
    virtual std::string algorithm() const = 0;
    virtual int64_t packedWeightBytes() const = 0;
    // Two plans with the same variant pack the same weights to the same bytes.
    virtual std::string weightVariant() const = 0;
    // Returns the scratch for a pool of up to that many threads. The caller aligns scratch to 64 bytes.
    virtual int64_t scratchBytes(int threads) const = 0;
};

// Weights are in the order of the model: convolution [oc][ic/groups][kh][kw], deconvolution [ic][oc/groups][kh][kw].
// The callback returns `count` of them from `first` on; the pointer is valid until the next call. Packers read them in
// order.
using WeightReader = std::function<const float*(size_t first, size_t count)>;

// Packs float weights.
class FloatWeightPacker {
  public:
    virtual void packFloats(const WeightReader& weights, void* packed, ThreadPool& pool) const = 0;

  protected:
    ~FloatWeightPacker() = default;
};

// The form in which the model stores quantised weights.
struct WeightQuantization {
    int bits = 0;        // 8 or 4; 0: they are floats
    int blocks = 1;      // per output channel, each with its own scale and minimum
    bool minima = true;  // whether there are minima
};

// Quantised weights: weight = code * scale + minimum. Each output channel has one scale or several, of
// consecutive weights. `minima` is empty when all are zero. Plans of int8 read the codes only.
struct QuantizedWeightsView {
    std::span<const int8_t> codes;
    std::span<const float> scales, minima;
};

// Quantised weights with codes as most models store them: 8 is added to codes of 4 bits, 128 to codes of 8 bits. Codes
// of 4 bits come in pairs, the first of which is in the upper half of a byte.
struct StoredWeightsView {
    const uint8_t* codes;
    std::span<const float> scales, minima;
};

// Gives the quantised weights of some output channels at a time. Both functions return channels first .. first + count,
// which are valid until the next call. Packers ask for channels in order, on the thread that calls them.
class QuantizedWeightReader {
  public:
    virtual ~QuantizedWeightReader() = default;
    virtual QuantizedWeightsView read(int first, int count) = 0;
    // It is called only where a channel fills whole bytes.
    virtual StoredWeightsView readStored(int first, int count, int bits) = 0;
};

// Packs weights that stay quantised.
class QuantizedWeightPacker {
  public:
    virtual void packQuantized(QuantizedWeightReader& weights, void* packed, ThreadPool& pool) const = 0;

  protected:
    ~QuantizedWeightPacker() = default;
};

// An input that is not stored as a whole: its rows are found or computed on request.
class RowSource {
  public:
    virtual ~RowSource() = default;
    // Returns rows first .. end of channel block `block`, one after the other. `strip` has memory for them, which the
    // callee may fill and return.
    virtual const float* rows(int block, int first, int end, float* strip) const = 0;
};

// A convolution that reads its input from a RowSource, on several threads at once.
class RowFedConv {
  public:
    // Runs like ConvPlan::run().
    virtual void runRows(const RowSource& src, const void* packed, float* dst, const PostOps& post, void* scratch,
                         ThreadPool& pool) const = 0;

  protected:
    ~RowFedConv() = default;
};

// A convolution whose output can be computed in tiles: the channels of a panel at some of the pixels, whenever and
// wherever the caller needs them.
class TileableConv {
  public:
    virtual int panelCount() const = 0;
    virtual OutPanel panel(int i) const = 0;
    virtual size_t expandedBytes() const = 0;  // memory that weightsOf() needs
    // Returns the weights of panel i: the packed ones, or the floats to which it expands quantised ones.
    virtual const float* weightsOf(const void* packed, int i, void* expanded) const = 0;
    // Computes pixels begin .. end of panel i; its blocks lie dstBlock floats apart. The bias of `post` has the values
    // of all blocks.
    virtual void runPixels(const float* image, const float* weights, int i, int begin, int end, float* dst,
                           ptrdiff_t dstBlock, const PostOps& post) const = 0;

  protected:
    ~TileableConv() = default;
};

}  // namespace mnnc
