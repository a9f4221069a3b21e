// Pictures in files: PNG, JPEG, BMP, GIF, TGA, PGM and PPM, and PNG to write.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "picture.h"

namespace mnnc::image {

// Format and extents of the picture of a file.
Picture fileInfo(std::span<const uint8_t> file);
// The pixels in the format of `to`, whose extents are checked.
void decodeFile(std::span<const uint8_t> file, const Picture& to);
std::vector<uint8_t> pngFile(const Picture& picture);

}  // namespace mnnc::image
