// Parameters of ImageProcess.
#pragma once
#include <array>

#include "ir/params.h"

namespace mnnc {

// The numbers in the file.
enum class PixelFormat : int { Rgba = 0, Rgb = 1, Bgr = 2, Gray = 3, Bgra = 4 };

inline int pixelChannels(PixelFormat format) {
    if (format == PixelFormat::Gray) return 1;
    return format == PixelFormat::Rgb || format == PixelFormat::Bgr ? 3 : 4;
}

// The layout of the bytes or floats of pictures.
struct PictureLayout {
    int64_t height = 0, width = 0;
    int64_t image = 0, pixel = 0, channel = 0;  // steps from one to the next
};

struct ImageProcessParams : ParamsOf<ImageProcessParams> {
    PixelFormat source = PixelFormat::Rgba, target = PixelFormat::Rgba;
    bool bilinear = false;
    bool paddingOutside = false;  // places outside of the picture have the value `padding` instead of the nearest pixel
    uint8_t padding = 0;
    std::array<float, 4> mean{}, normal{1, 1, 1, 1};
    // Maps (x, y, 1) of the result to that of the picture, times a factor.
    std::array<double, 9> matrix{1, 0, 0, 0, 1, 0, 0, 0, 1};

    int64_t height = 0, width = 0;  // of the result
    bool bytes = false;             // the result is uint8, without mean and normal
    PictureLayout from, to;         // set in a command
};

}  // namespace mnnc
