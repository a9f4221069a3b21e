// A 1x1 convolution and a depthwise one that is the only consumer of its output: computed a few rows at a time, so that
// the map between them, often the largest of a net, stays in the second level cache and needs no memory of its own.
#pragma once
#include <memory>
#include <string>

#include "backends/cpu/kernels/conv/conv.h"

namespace mnnc {

class PointwiseDepthwisePlan {
  public:
    // Returns null where the first one is not tileable, or the second one has not exactly one output for each input.
    static std::unique_ptr<PointwiseDepthwisePlan> make(const Kernels& k, const ConvShape& pointwise,
                                                        const ConvOptions& pointwiseOptions,
                                                        const ConvShape& depthwise);

    const ConvPlan& pointwise() const { return *pointwise_; }
    const ConvPlan& depthwise() const { return *depthwise_; }
    int64_t scratchBytes(int threads) const;
    // Runs like ConvPlan::run(), with the same bits as the two plans one after the other. Neither adds a residual.
    struct Side {
        const void* packed = nullptr;
        PostOps post;
    };
    void run(const float* src, const Side& pointwise, const Side& depthwise, float* dst, void* scratch,
             ThreadPool& pool) const;

  private:
    PointwiseDepthwisePlan(const Kernels& k, std::unique_ptr<ConvPlan> pointwisePlan,
                           std::unique_ptr<ConvPlan> depthwisePlan, const ConvShape& pointwise,
                           const ConvShape& depthwise);

    struct Job;
    struct Rows {
        int begin, end;
    };
    // How the rows of the result and the panels are cut into tasks.
    struct Cut {
        int pieces;
        bool byBands;  // a task makes all panels of its piece, band by band
    };
    Cut cutFor(int threads) const;
    void runBands(const Job& job, Rows piece, float* memory) const;
    void runPanel(const Job& job, int panel, Rows rows, Rows piece, float* strip, float* halo) const;
    int64_t bandRows() const;
    int firstRow(int y) const;
    int lastRow(int y) const;
    size_t stripFloats() const;
    int haloRows() const;         // the maximum number of rows that two bands share
    size_t haloFloats() const;    // of a panel
    size_t threadFloats() const;  // for a strip, the weights of a panel, and all halos

    const Kernels& k_;
    std::unique_ptr<ConvPlan> pointwise_, depthwise_;
    const ConvShape p_, d_;
    int blocks_ = 0;     // of output channels
    int maxBlocks_ = 1;  // of a panel
    int rows_ = 0;       // of the intermediate map in the strip
    int step_ = 1;       // output rows made at a time
    int again_ = 0;      // rows of the intermediate map that an output row shares with the one before
    int band_ = 0;       // output rows whose input stays in the cache while all panels pass by; 0: it does not pay
};

}  // namespace mnnc
