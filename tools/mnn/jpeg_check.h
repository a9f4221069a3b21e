// What has to be checked in a JPEG file before stb_image decodes it.
#pragma once
#include <cstdint>
#include <span>

namespace tool {

// What stb_image 2.27 would access memory outside of its arrays for: a Huffman table of more than 256 codes, or a scan
// whose components name a Huffman table that the file has not defined. Null: nothing; also for files that are no JPEG.
const char* jpegDefect(std::span<const uint8_t> file);

}  // namespace tool
