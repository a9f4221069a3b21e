// Image files as network inputs: decoded, resized and normalised.
#pragma once
#include <string>
#include <vector>

#include "npy.h"

namespace tool {

struct ImageFlags {
    std::vector<double> mean;   // subtracted per channel; one number or one per channel
    std::vector<double> scale;  // multiplied afterwards
    bool bgr = false;
};

bool isImageFile(const std::string& path);

// The image as an array of `shape` (rank 4, batch 1, 1 or 3 channels), channels last when `channelsLast`.
// (value - mean) * scale with values 0..255. Throws ToolError.
Array readImage(const std::string& path, const std::vector<int64_t>& shape, bool channelsLast,
                const ImageFlags& flags);

}  // namespace tool
