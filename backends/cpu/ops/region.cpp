// ROIPooling and CropAndResize; the table of operators on regions.
#include "backends/cpu/ops/region.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

class RoiPoolingExecution final : public RegionExecution {
  public:
    using RegionExecution::RegionExecution;

  private:
    // Returns a coordinate of a region in whole pixels; a NaN is 0.
    static int64_t pixel(float coordinate, float scale) noexcept {
        const float place = std::round(coordinate * scale);
        constexpr float kFar = 1 << 30;
        return place == place ? static_cast<int64_t>(std::clamp(place, -kFar, kFar)) : 0;
    }

    struct Span {
        int64_t first, end;
    };
    // Returns the pixels of output i of `outputs` between `low` and `high`.
    static Span span(int64_t low, int64_t high, int64_t i, int64_t outputs, int64_t pixels) noexcept {
        const float size = static_cast<float>(std::max<int64_t>(high - low + 1, 1)) / static_cast<float>(outputs);
        const auto first = static_cast<int64_t>(std::floor(static_cast<float>(i) * size));
        const auto end = static_cast<int64_t>(std::ceil(static_cast<float>(i + 1) * size));
        return {std::clamp<int64_t>(first + low, 0, pixels), std::clamp<int64_t>(end + low, 0, pixels)};
    }

    void makeRow(const Frame& frame, int64_t region, int64_t row) const noexcept override {
        const float scale = params<RoiParams>().scale;
        const float* b = box(frame, region);
        const Span down = span(pixel(b[1], scale), pixel(b[3], scale), row, rows_, height_);
        float* dst = output(frame, region, row);
        for (int64_t c = 0; c < columns_; ++c, dst += lanes_) {
            const Span across = span(pixel(b[0], scale), pixel(b[2], scale), c, columns_, width_);
            if (down.first >= down.end || across.first >= across.end) {
                fill(dst, 0);
                continue;
            }
            kernels_.boxMaximum({picture(frame, region), sourceBlock(), dst, outputBlock(), blocks_, width_, down.first,
                                 down.end, across.first, across.end});
        }
    }
};

class CropAndResizeExecution final : public RegionExecution {
  public:
    using RegionExecution::RegionExecution;

  private:
    // Returns the position of output i between `low` and `high`, 0 to 1 over the pixels, as TensorFlow computes it.
    static float place(float low, float high, int64_t i, int64_t outputs, int64_t pixels) noexcept {
        const auto last = static_cast<float>(pixels - 1);
        if (outputs == 1) return 0.5f * (low + high) * last;
        return low * last + static_cast<float>(i) * ((high - low) * last / static_cast<float>(outputs - 1));
    }
    // Returns whether the position is inside.
    bool neighbours(float at, int64_t pixels, Neighbours& n) const noexcept {
        if (!(at >= 0 && at <= static_cast<float>(pixels - 1))) return false;
        if (params<CropParams>().nearest) {
            n = {static_cast<int64_t>(std::round(at)), 0, 1, 0};
            return true;
        }
        n.low = static_cast<int64_t>(at);
        n.high = std::min(n.low + 1, pixels - 1);
        n.highWeight = at - static_cast<float>(n.low);
        n.lowWeight = 1.0f - n.highWeight;
        return true;
    }

    void makeRow(const Frame& frame, int64_t region, int64_t row) const noexcept override {
        const auto& p = params<CropParams>();
        const float* b = box(frame, region);
        float* dst = output(frame, region, row);
        Neighbours y, x;
        const bool inside = neighbours(place(b[0], b[2], row, rows_, height_), height_, y);
        for (int64_t c = 0; c < columns_; ++c, dst += lanes_) {
            if (!inside || !neighbours(place(b[1], b[3], c, columns_, width_), width_, x)) {
                fill(dst, p.outside);
                continue;
            }
            const int32_t index[4] = {
                static_cast<int32_t>(y.low * width_ + x.low), static_cast<int32_t>(y.low * width_ + x.high),
                static_cast<int32_t>(y.high * width_ + x.low), static_cast<int32_t>(y.high * width_ + x.high)};
            const float weight[4] = {y.lowWeight * x.lowWeight, y.lowWeight * x.highWeight, y.highWeight * x.lowWeight,
                                     y.highWeight * x.highWeight};
            kernels_.tapSum({picture(frame, region), sourceBlock(), dst, outputBlock(), blocks_, index, weight,
                             p.nearest ? 1 : 4, true, 0});
        }
    }
};

}  // namespace

constexpr CpuOp kRegionCpu[] = {
    {OpType::ROIAlign, storagePacked, createRoiAlign},
    {OpType::ROIPooling, storagePacked, makeOnBackend<RoiPoolingExecution>},
    {OpType::CropAndResize, storagePacked, makeOnBackend<CropAndResizeExecution>},
};
extern constinit const CpuFamily regionCpu = kRegionCpu;

}  // namespace mnnc::cpu
