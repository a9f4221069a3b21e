// Checks of a JPEG file before stb_image decodes it.
#pragma once
#include <cstdint>
#include <span>

namespace mnnc::image {

// Finds defects for which stb_image 2.27 accesses memory outside of its arrays (a Huffman table of more than 256 codes,
// or a scan whose components name a Huffman table that the file has not defined), returns pixels that the file lacks (a
// component without a scan), or takes minutes (scans without number). Returns null when there is none, also for files
// that are no JPEG.
const char* jpegDefect(std::span<const uint8_t> file);

}  // namespace mnnc::image
