// ROIAlign: the average or the maximum of samples between the pixels. A maximum is taken over the weighted pixels
// around all samples, as ONNX's reference and ONNX Runtime do, not over the samples' sums.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/ops/region.h"

namespace mnnc::cpu {

namespace {

// The samples of one output along one axis, placed as in ONNX Runtime: in float32, where those further than one pixel
// outside of the picture count as 0.
class AxisSamples {
  public:
    AxisSamples(float start, float extent, int64_t output, int64_t outputs, int64_t pixels, int samples) noexcept
        : pixels_(pixels), last_(static_cast<float>(pixels)) {
        const float size = extent / static_cast<float>(outputs);
        origin_ = start + static_cast<float>(output) * size;
        const float wanted = samples > 0 ? static_cast<float>(samples) : std::ceil(size);
        // The negated form also catches NaN.
        if (pixels < 1 || !(wanted >= 1) || !std::isfinite(size) || !std::isfinite(origin_)) return;
        count_ = wanted;
        size_ = size;
        // In a box with many samples, only those that can be inside are visited.
        const float step = size / wanted;
        end_ = static_cast<int64_t>(std::min(wanted, 1024.0f));
        if (wanted > 1024.0f) {
            const auto clamped = [&](float k) {
                return static_cast<int64_t>(std::clamp(k, 0.0f, std::min(wanted, 1e18f)));
            };
            begin_ = clamped((-1.0f - origin_) / step - 2.0f);
            end_ = std::max(begin_, clamped((last_ - origin_) / step + 2.0f));
        }
    }

    float count() const noexcept { return count_; }  // 0: there is no sample
    int64_t begin() const noexcept { return begin_; }
    int64_t end() const noexcept { return end_; }

    // Finds sample k. Returns whether it is inside.
    bool at(int64_t k, Neighbours& n) const noexcept {
        float place = origin_ + (static_cast<float>(k) + 0.5f) * size_ / count_;
        if (!(place >= -1.0f && place <= last_)) return false;
        place = std::max(place, 0.0f);
        n.low = static_cast<int64_t>(place);
        if (n.low >= pixels_ - 1) {
            n = {pixels_ - 1, pixels_ - 1, 1, 0};
            return true;
        }
        n.high = n.low + 1;
        n.highWeight = place - static_cast<float>(n.low);
        n.lowWeight = 1.0f - n.highWeight;
        return true;
    }

  private:
    int64_t pixels_, begin_ = 0, end_ = 0;
    float last_, origin_ = 0, size_ = 0, count_ = 0;
};

class RoiAlignExecution final : public RegionExecution {
  public:
    using RegionExecution::RegionExecution;

  private:
    void makeRow(const Frame& frame, int64_t region, int64_t row) const noexcept override {
        const auto& p = params<RoiParams>();
        const float* b = box(frame, region);
        const float offset = p.aligned ? 0.5f : 0.0f;
        const float left = b[0] * p.scale - offset, top = b[1] * p.scale - offset;
        float width = b[2] * p.scale - offset - left, height = b[3] * p.scale - offset - top;
        if (!p.aligned) {
            width = std::max(width, 1.0f);
            height = std::max(height, 1.0f);
        }
        const AxisSamples down(top, height, row, rows_, height_, p.samples);
        for (int64_t c = 0; c < columns_; ++c)
            makeOutput(picture(frame, region), down, AxisSamples(left, width, c, columns_, width_, p.samples),
                       output(frame, region, row) + c * lanes_);
    }

    void makeOutput(const float* src, const AxisSamples& down, const AxisSamples& across, float* dst) const noexcept {
        const bool maximum = params<RoiParams>().maximum;
        const float samples = down.count() * across.count();
        constexpr int kMaxTaps = 256;
        int32_t index[kMaxTaps];
        float weight[kMaxTaps];
        TapSum sum{src, sourceBlock(), dst, outputBlock(), blocks_, index, weight, 0, true, 0};
        const auto flush = [&] {
            (maximum ? kernels_.tapMaximum : kernels_.tapSum)(sum);
            sum.first = false;
            sum.taps = 0;
        };
        // A sample outside takes part in a maximum with the value 0.
        int64_t inside = 0;
        if (maximum && samples > 0) sum.initial = -std::numeric_limits<float>::infinity();
        const float scale = maximum || samples == 0 ? 1.0f : 1.0f / samples;
        Neighbours y, x;
        for (int64_t i = down.begin(); i < down.end(); ++i) {
            if (!down.at(i, y)) continue;
            for (int64_t k = across.begin(); k < across.end(); ++k) {
                if (!across.at(k, x)) continue;
                if (sum.taps + 4 > kMaxTaps) flush();
                const int64_t places[4] = {y.low * width_ + x.low, y.low * width_ + x.high, y.high * width_ + x.low,
                                           y.high * width_ + x.high};
                const float weights[4] = {y.lowWeight * x.lowWeight, y.lowWeight * x.highWeight,
                                          y.highWeight * x.lowWeight, y.highWeight * x.highWeight};
                for (int t = 0; t < 4; ++t, ++sum.taps) {
                    index[sum.taps] = static_cast<int32_t>(places[t]);
                    weight[sum.taps] = weights[t] * scale;
                }
                ++inside;
            }
        }
        flush();
        if (!maximum || static_cast<float>(inside) >= samples) return;
        for (int64_t b = 0; b < blocks_; ++b)
            for (int64_t lane = 0; lane < lanes_; ++lane) {
                float& value = dst[b * outputBlock() + lane];
                value = std::max(value, 0.0f);
            }
    }
};

}  // namespace

std::unique_ptr<Execution> createRoiAlign(CpuBackend& backend, const Command& command, std::string&) {
    return std::make_unique<RoiAlignExecution>(backend, command);
}

}  // namespace mnnc::cpu
