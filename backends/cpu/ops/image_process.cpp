// ImageProcess: one output pixel after the other. Samples are rounded to bytes before they are converted, as in
// pictures that are resized first.
#include "ops/image_process.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"

namespace mnnc::cpu {

namespace {

struct Pixel {
    int value[4];
};

// Limits a coordinate of a picture to the picture; the result is finite.
double inside(double at, int64_t extent) {
    return at > 0 ? std::min(at, static_cast<double>(extent - 1)) : 0;
}

class ImageProcessExecution final : public CommandExecution {
  public:
    explicit ImageProcessExecution(const Command& command) : CommandExecution(command) {}

    void run(const Frame& frame) const override {
        if (out().empty()) return;
        const auto& p = params<ImageProcessParams>();
        const int64_t images = out().shape[0];
        forRows(frame.pool(), images * p.to.height, p.to.width * 16, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) row(frame, p, i / p.to.height, i % p.to.height);
        });
    }

  private:
    void row(const Frame& frame, const ImageProcessParams& p, int64_t image, int64_t y) const noexcept {
        const uint8_t* const picture = inData<uint8_t>(frame, 0) + image * p.from.image;
        for (int64_t x = 0; x < p.to.width; ++x) {
            const Pixel pixel = converted(p, sampled(p, picture, x, y));
            const int64_t at = image * p.to.image + (y * p.to.width + x) * p.to.pixel;
            for (int c = 0; c < pixelChannels(p.target); ++c) {
                const auto channel = static_cast<size_t>(c);
                const int value = pixel.value[c];
                if (p.bytes)
                    outData<uint8_t>(frame)[at + c * p.to.channel] = static_cast<uint8_t>(value);
                else
                    outData<float>(frame)[at + c * p.to.channel] =
                        (static_cast<float>(value) - p.mean[channel]) * p.normal[channel];
            }
        }
    }

    static Pixel sampled(const ImageProcessParams& p, const uint8_t* picture, int64_t column, int64_t line) noexcept {
        const auto& m = p.matrix;
        const auto fx = static_cast<double>(column), fy = static_cast<double>(line);
        const double scale = m[6] * fx + m[7] * fy + m[8];
        double x = (m[0] * fx + m[1] * fy + m[2]) / scale, y = (m[3] * fx + m[4] * fy + m[5]) / scale;
        if (!p.bilinear) {
            x = std::floor(x + 0.5);
            y = std::floor(y + 0.5);
        }
        const double sx = inside(x, p.from.width), sy = inside(y, p.from.height);
        Pixel pixel{};
        const int channels = pixelChannels(p.source);
        if (p.paddingOutside && (sx != x || sy != y)) {
            std::fill_n(pixel.value, channels, p.padding);
            return pixel;
        }
        const auto x0 = static_cast<int64_t>(sx), y0 = static_cast<int64_t>(sy);
        const int64_t right = x0 + 1 < p.from.width ? p.from.pixel : 0;
        const int64_t below = y0 + 1 < p.from.height ? p.from.pixel * p.from.width : 0;
        const double wx = sx - static_cast<double>(x0), wy = sy - static_cast<double>(y0);
        const uint8_t* tap = picture + (y0 * p.from.width + x0) * p.from.pixel;
        for (int c = 0; c < channels; ++c, tap += p.from.channel) {
            const double above = tap[0] * (1 - wx) + tap[right] * wx;
            const double under = tap[below] * (1 - wx) + tap[below + right] * wx;
            pixel.value[c] = static_cast<int>(std::lround(above * (1 - wy) + under * wy));
        }
        return pixel;
    }

    // The weights are those of the official runtime's conversion to grey, because the file has none.
    static Pixel converted(const ImageProcessParams& p, Pixel pixel) noexcept {
        int* const v = pixel.value;
        if (p.source == PixelFormat::Gray)
            v[1] = v[2] = v[0];
        else if (p.source == PixelFormat::Bgr || p.source == PixelFormat::Bgra)
            std::swap(v[0], v[2]);
        if (pixelChannels(p.source) < 4) v[3] = 255;
        if (p.target == PixelFormat::Gray && p.source != PixelFormat::Gray)
            v[0] = (19 * v[0] + 38 * v[1] + 7 * v[2]) >> 6;
        else if (p.target == PixelFormat::Bgr || p.target == PixelFormat::Bgra)
            std::swap(v[0], v[2]);
        return pixel;
    }
};

}  // namespace

constexpr CpuOp kImageProcessCpu[] = {
    {OpType::ImageProcess, nullptr, makeExecution<ImageProcessExecution>},
};
extern constinit const CpuFamily imageProcessCpu = kImageProcessCpu;

}  // namespace mnnc::cpu
