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
    void runPiece(const Job& job, int panel, int begin, int end, float* strip) const;
    int firstRow(int y) const;
    int lastRow(int y) const;
    size_t stripFloats() const;
    size_t threadFloats() const;  // for a strip and the weights of a panel

    const Kernels& k_;
    std::unique_ptr<ConvPlan> pointwise_, depthwise_;
    const ConvShape p_, d_;
    int blocks_ = 0;     // of output channels
    int maxBlocks_ = 1;  // of a panel
    int rows_ = 0;       // of the intermediate map in the strip
    int step_ = 1;       // output rows made at a time
};

}  // namespace mnnc
