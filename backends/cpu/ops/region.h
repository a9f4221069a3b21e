// The base of operators on regions of pictures: a packed picture, boxes with the number of their picture, and rows of
// outputs, which the threads divide.
#pragma once
#include <algorithm>
#include <memory>
#include <string>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/resample/sampling.h"
#include "backends/cpu/ops/command_execution.h"
#include "ops/region.h"

namespace mnnc::cpu {

class RegionExecution : public CommandExecution {
  public:
    RegionExecution(CpuBackend& backend, const Command& command)
        : CommandExecution(command), kernels_(samplingKernels(backend.kernels().id)) {}

    void prepare() override {
        lanes_ = kernels_.lanes;
        height_ = in(0).shape[2];
        width_ = in(0).shape[3];
        rows_ = out().shape[2];
        columns_ = out().shape[3];
        blocks_ = ceilDiv(in(0).shape[1], lanes_);
        indexed_ = command().inputs.size() > 2;
    }

    void run(const Frame& frame) const override {
        if (out().empty()) return;
        const int64_t regions = out().shape[0];
        for (int64_t r = 0; r < regions; ++r) checkPicture(frame, r);
        ThreadPool& pool = frame.pool();
        parallelRanges(pool, static_cast<int64_t>(regions * rows_), 4 * pool.threads(),
                       [&](int64_t begin, int64_t end) {
                           for (int64_t i = begin; i < end; ++i) makeRow(frame, i / rows_, i % rows_);
                       });
    }

  protected:
    virtual void makeRow(const Frame& frame, int64_t region, int64_t row) const noexcept = 0;

    const float* box(const Frame& frame, int64_t region) const noexcept {
        return inData<float>(frame, 1) + (indexed_ ? region * 4 : region * 5 + 1);
    }
    const float* picture(const Frame& frame, int64_t region) const noexcept {
        return inData<float>(frame, 0) + pictureIndex(frame, region) * blocks_ * sourceBlock();
    }
    float* output(const Frame& frame, int64_t region, int64_t row) const noexcept {
        return outData<float>(frame) + (region * blocks_ * rows_ + row) * columns_ * lanes_;
    }
    int64_t sourceBlock() const noexcept { return height_ * width_ * lanes_; }
    int64_t outputBlock() const noexcept { return rows_ * columns_ * lanes_; }
    void fill(float* dst, float value) const noexcept {
        for (int64_t b = 0; b < blocks_; ++b) std::fill_n(dst + b * outputBlock(), lanes_, value);
    }

    const SamplingKernels& kernels_;
    int64_t lanes_ = 1, height_ = 0, width_ = 0, rows_ = 0, columns_ = 0, blocks_ = 0;

  private:
    int64_t pictureIndex(const Frame& frame, int64_t region) const noexcept {
        return indexed_ ? inData<int32_t>(frame, 2)[region] : static_cast<int64_t>(inData<float>(frame, 1)[region * 5]);
    }
    void checkPicture(const Frame& frame, int64_t region) const {
        const int64_t pictures = in(0).shape[0];
        const double index = indexed_ ? static_cast<double>(inData<int32_t>(frame, 2)[region])
                                      : static_cast<double>(inData<float>(frame, 1)[region * 5]);
        if (!(index >= 0 && index < static_cast<double>(pictures)))
            fail(Status::InputDataError, "op '%s': region %lld is in picture %g of a batch of %lld",
                 command().name.c_str(), static_cast<long long>(region), index, static_cast<long long>(pictures));
    }

    bool indexed_ = false;
};

// Two neighbouring pixels along an axis and their weights.
struct Neighbours {
    int64_t low = 0, high = 0;
    float lowWeight = 1, highWeight = 0;
};

std::unique_ptr<Execution> createRoiAlign(CpuBackend& backend, const Command& command, std::string& reason);

}  // namespace mnnc::cpu
