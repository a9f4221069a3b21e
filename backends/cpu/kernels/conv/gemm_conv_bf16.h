// Convolutions as products of bf16: the source of each chunk of outputs is rounded once, into a strip that its panels
// share.
#pragma once
#include "backends/cpu/kernels/conv/gemm_conv.h"

namespace mnnc {

class Bf16GemmConvPlan : public GemmConvPlan {
  protected:
    // A position is a row of the source, with its border, or a pixel.
    struct Positions {
        int first, count;
    };

    // The source has `height` positions; an output reads `tapRows` of them. A position takes OutputWalk::position
    // elements of the strip.
    Bf16GemmConvPlan(const Kernels& k, const ConvShape& shape, const GemmWeightOptions& options, GemmGeometry geometry,
                     int height, int tapRows)
        : GemmConvPlan(k, shape, options, std::move(geometry)), height_(height), tapRows_(tapRows) {}

    // Rounds the positions begin .. end, counted over all blocks.
    virtual void fillStrip(const float* image, Positions positions, uint16_t* strip, int64_t begin,
                           int64_t end) const = 0;

  private:
    size_t sourceBytes(int threads) const override;
    void runImage(const GemmImage& image, ThreadPool& pool) const override;

    // If several tasks (or phases) read the same positions, all of them are rounded first.
    bool wholeStrip(const Split& split) const { return split.groups > 1 || geometry_.walks.size() > 1; }
    Positions positionsOf(int u0, int u1) const;
    Positions allPositions() const;
    size_t stripBytes(const Split& split) const;

    const int height_, tapRows_;
};

}  // namespace mnnc
