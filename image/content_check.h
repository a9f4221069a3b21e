// Finds files of which stb_image makes other pixels without an error: BMP, GIF and TGA files that end too early, whose
// missing bytes it takes for zeros, and tables of colours that it reads from the wrong place.
#pragma once
#include <cstdint>
#include <span>

namespace mnnc::image {

// Returns false when a BMP, GIF or TGA file of width x height pixels is too short, and true for files of other kinds.
// The extents are at most 2^24, as stb_image reads them.
bool containsAllPixels(std::span<const uint8_t> file, int64_t width, int64_t height);

// Returns whether a TGA file has a table of colours whose first number is not 0. stb_image takes other bytes for it.
bool hasShiftedColours(std::span<const uint8_t> file);

}  // namespace mnnc::image
