// Pictures in files: reads PNG, JPEG, BMP, GIF, TGA, PGM and PPM, and writes PNG.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "picture.h"

namespace mnnc::image {

// Returns the format and the extents of the picture in a file.
Picture fileInfo(std::span<const uint8_t> file);
// Writes the pixels in the format of `to`, whose extents must have been checked.
void decodeFile(std::span<const uint8_t> file, const Picture& to);
std::vector<uint8_t> pngFile(const Picture& picture);

}  // namespace mnnc::image
