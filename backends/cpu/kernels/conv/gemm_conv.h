// Convolutions as matrix products, pixels times panels of weights: the life cycle and the loops that these plans share.
//
// A plan describes where its outputs and their taps lie (GemmGeometry) and provides the pixels that products
// read: the input itself, a copy of it with a border, or strips of it.
#pragma once
#include <vector>

#include "backends/cpu/kernels/conv/conv.h"
#include "backends/cpu/kernels/conv/gemm_conv_weights.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/gemm/panels.h"

namespace mnnc {

// The order of a phase's outputs in the source and in the output. A unit is a pixel, and one product takes many of
// them; or it is a row, and one product takes its pixels. Positions are pixels or rows of the source.
struct OutputWalk {
    bool byPixel = false;
    int units = 0;
    int columns = 1;         // pixels of a unit
    int step = 1;            // positions from one unit to the next
    ptrdiff_t position = 0;  // elements of the source from one position to the next
    ptrdiff_t pixel = 0;     // elements of the source from one pixel to the next
    size_t phase = 0;        // the phase whose weights it takes
    // Distances in the output, in floats: to the first unit, and from one unit, pixel and block of channels to the
    // next.
    ptrdiff_t dst = 0, dstUnit = 0, dstPixel = 0, dstBlock = 0;
};

struct GemmGeometry {
    std::vector<ConvPhase> phases;
    std::vector<OutputWalk> walks;                   // one walk for each phase, or several with parts of its taps
    std::vector<std::vector<ptrdiff_t>> tapOffsets;  // offsets of the runs of each walk, in elements of the source
    std::vector<std::vector<int>> tapRuns;           // the runs of the phase that each walk takes; empty: all of them
    int images = 1;
    size_t srcImage = 0, dstImage = 0;  // floats of an image
    bool rowMajorOutput = false;        // the last block of channels is stored without the unused lanes
    int64_t unitElements = 1;           // elements of the source that one more unit reads
};

// The pixels that products read.
template <typename T>
struct GemmSource {
    const T* data;
    ptrdiff_t plane;  // elements from one block of channels to the next
    int first;        // the position that data begins with
};

// An image, the settings that all images share, and memory.
struct GemmImage {
    const float* src;
    float* dst;
    const void* packed;
    PostOps post;    // with the image's residual
    char* expanded;  // a panel of weights for each thread, where they are quantised
    char* memory;    // sourceBytes() of scratch
    bool backwards;  // a product of one row, which reads little but weights, begins with the last panel
};

class GemmConvPlan : public ConvPlan, private FloatWeightPacker, private QuantizedWeightPacker {
  public:
    int64_t packedWeightBytes() const override { return static_cast<int64_t>(weights_.packedBytes()); }
    std::string weightVariant() const override { return weights_.variant(); }
    const FloatWeightPacker* floatPacker() const override { return weights_.quantized() ? nullptr : this; }
    const QuantizedWeightPacker* quantizedPacker() const override { return weights_.quantized() ? this : nullptr; }
    int64_t scratchBytes(int threads) const override;
    void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        runImages({src, dst, packed, post, static_cast<char*>(scratch), nullptr, false}, pool);
    }
    void runBackwards(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
                      ThreadPool& pool) const override {
        runImages({src, dst, packed, post, static_cast<char*>(scratch), nullptr, true}, pool);
    }

  protected:
    GemmConvPlan(const Kernels& k, const ConvShape& shape, const GemmWeightOptions& options, GemmGeometry geometry);

    // Returns the scratch for the copy that products read in place of the input.
    virtual size_t sourceBytes(int threads) const = 0;
    virtual void runImage(const GemmImage& image, ThreadPool& pool) const = 0;
    // Returns the number of units whose input stays in the cache while the panels pass by.
    virtual int64_t cacheUnits(int threads) const;

    // Returns the blocks of channels that a product sums up at a time: all of them, unless the input of a full tile
    // would not stay in the cache while the panels pass by. A slice stores its sums, and the next slice adds to them.
    int sliceBlocks(size_t walk) const;
    // Returns whether no pixel is read by two taps: then a slice of the taps reads an equally small part of the input.
    bool apartTaps() const { return !options_.transposed && s_.strideH >= s_.kh && s_.strideW >= s_.kw; }
    // Returns into how many slices of taps a sum is cut, so that a slice's weights stay in the cache while the tiles
    // pass by.
    int tapSlices(size_t walk) const;

    int panelCount() const { return static_cast<int>(weights_.panels().size()); }
    // Returns the units of a tile; chunks begin at whole tiles.
    int tileUnits(size_t walk = 0) const;
    Split splitOf(size_t walk, int threads) const;

    // Computes all walks of an image whose source is complete, cut into tasks.
    template <typename T>
    void runSource(const GemmImage& image, const GemmSource<T>& src, ThreadPool& pool) const;
    // Computes units u0 .. u1 of some panels, on one thread; backwards: the last panel first.
    struct Panels {
        int begin, end;
    };
    template <typename T>
    void runPanels(const GemmImage& image, const GemmSource<T>& src, size_t walk, Panels panels, bool backwards, int u0,
                   int u1, int slot) const;
    // Returns the arguments of a panel except its destination and its number of pixels; it reads from the first pixel
    // of the source.
    template <typename T>
    PanelArgsOf<T> panelArgs(const GemmSource<T>& src, size_t walk, int panel, const T* weights,
                             const PostOps& post) const;

    const Kernels& k_;
    const ConvShape s_;
    const GemmWeightOptions options_;
    const int icb_, ocb_;  // blocks of channels
    const GemmConvWeights weights_;
    const GemmGeometry geometry_;  // without the phases, which moved to weights_

  private:
    // Returns whether each panel computes all outputs before the next panel is read, although the cache does not hold
    // the input. This pays where it reads less than reading the weights again for each part of the input.
    bool readsWeightsOnce() const;
    int lastLanes(int panel) const;
    void takeSlice(PanelArgs& args, const GemmPanel& panel, int first, int blocks) const;
    void takeTaps(PanelArgs& args, int first, int end) const;
    // Computes all images. `image` is the first one, with the scratch of the run.
    void runImages(GemmImage image, ThreadPool& pool) const;

    void packFloats(const WeightReader& weights, void* packed, ThreadPool& pool) const override {
        weights_.pack(weights, packed, pool);
    }
    void packQuantized(QuantizedWeightReader& weights, void* packed, ThreadPool& pool) const override {
        weights_.packQuantized(weights, packed, pool);
    }

    const bool weightsOnce_;
};

// The geometry of a direct or transposed convolution, whose taps read a map with a border.
struct RowGeometry : GemmGeometry {
    TapExtent extent;
    ptrdiff_t row = 0, plane = 0;  // elements
};
RowGeometry rowGeometry(const Kernels& k, const ConvShape& shape, bool transposed);

// Makes a plan with products row by row: of floats, from the input itself or from a copy with a border; or of bf16.
std::unique_ptr<ConvPlan> makeRowGemmPlan(const Kernels& k, const ConvShape& shape, const ConvOptions& options,
                                          const char* algorithm);

}  // namespace mnnc
