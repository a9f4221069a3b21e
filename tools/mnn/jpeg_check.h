// What has to be checked in a JPEG file before stb_image decodes it.
#pragma once
#include <cstdint>
#include <span>

namespace tool {

// Whether no Huffman table of the file has more than 256 codes. stb_image 2.27 writes beyond its arrays for such a
// table. Files that are no JPEG have none.
bool huffmanTablesFit(std::span<const uint8_t> file);

}  // namespace tool
