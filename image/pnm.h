// Binary .pgm and .ppm files. stb_image reads the two bytes of a sample in the wrong order, and reads beyond the end of
// the pixels when it also changes the number of channels.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace mnnc::image {

struct Decoded {
    int width = 0, height = 0, channels = 0;
    std::vector<uint8_t> values;  // rows of pixels of channels, 0 to 255
};

bool isPnm(std::span<const uint8_t> file);

// Reads only the extents and channels, not the values.
Decoded pnmHeader(std::span<const uint8_t> file);
Decoded readPnm(std::span<const uint8_t> file);

}  // namespace mnnc::image
