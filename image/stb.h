// The parts of stb_image, stb_image_resize and stb_image_write that the library uses, with limits on the memory that a
// file can request. Only stb.cpp includes the headers themselves.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace mnnc::image {

constexpr size_t kMaxFileBytes = 1 << 29;

struct FreeStb {
    void operator()(uint8_t* memory) const;
};
using StbPixels = std::unique_ptr<uint8_t[], FreeStb>;

// These return false, or null, where the file cannot be read as a picture; then stbReason() says why. They throw
// std::bad_alloc.
bool stbInfo(const uint8_t* file, int bytes, int& width, int& height, int& channels);
StbPixels stbDecode(const uint8_t* file, int bytes, int channels);
const char* stbReason();

// Resizes a picture whose pixels have `channels` bytes; strides are in bytes. Returns false when memory is short.
bool stbResize(const uint8_t* from, int width, int height, int stride, uint8_t* to, int toWidth, int toHeight,
               int toStride, int channels);

// Returns the bytes of a PNG file with these pixels, whose rows have no gaps between them. Throws std::bad_alloc.
std::vector<uint8_t> stbPng(const uint8_t* pixels, int width, int height, int channels);

}  // namespace mnnc::image
