// Pictures as inputs of nets: decoded, resized and normalised.
#pragma once
#include <string_view>
#include <vector>

#include "npy.h"

namespace tool {

struct ImageFlags {
    std::vector<double> mean;   // subtracted per channel; one number or one per channel
    std::vector<double> scale;  // multiplied after that
    bool bgr = false;
    bool letterbox = false;  // the picture keeps its proportions; the rest of the input is kMargin
};
inline constexpr unsigned char kMargin = 114;

// The size of a picture as an input of this shape. Throws ToolError where the input takes no pictures: a picture needs
// rank 4, batch 1, and 1 or 3 channels, which are last where `channelsLast`.
struct ImageForm {
    ImageForm(const std::vector<int64_t>& shape, bool channelsLast);
    int32_t channels, height, width;
    bool channelsLast;
};

// The rectangle of a picture in an input, in pixels of the input.
struct Place {
    int32_t left, top, width, height;
};
Place placeOf(int32_t pictureWidth, int32_t pictureHeight, const ImageForm& form, const ImageFlags& flags);

// Returns the picture in the bytes of a file as an array of batch 1: (value - mean) * scale, where the values are 0 to
// 255. Throws ToolError, and UsageError for flags that do not fit the channels.
Array imageInput(std::string_view file, const ImageForm& form, const ImageFlags& flags);

}  // namespace tool
