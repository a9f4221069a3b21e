// The one source that compiles the headers of stb.
#include "stb.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace {

// Limits each allocation of stb_image, since a few bytes can announce gigabytes.
void* boundedRealloc(void* memory, size_t bytes) {
    return bytes > mnnc::image::kMaxFileBytes ? nullptr : std::realloc(memory, bytes);
}

}  // namespace

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#define STBI_MALLOC(bytes) boundedRealloc(nullptr, bytes)
#define STBI_REALLOC(memory, bytes) boundedRealloc(memory, bytes)
#define STBI_FREE(memory) std::free(memory)
// Only the formats that are promised: the file's content chooses the reader, not its name.
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#define STBI_ONLY_TGA
#define STBI_NO_STDIO
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>
#define STB_IMAGE_RESIZE_STATIC
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb_image_resize.h>
#define STBI_WRITE_NO_STDIO
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace mnnc::image {

void FreeStb::operator()(uint8_t* memory) const {
    stbi_image_free(memory);
}

bool stbInfo(const uint8_t* file, int bytes, int& width, int& height, int& channels) {
    return stbi_info_from_memory(file, bytes, &width, &height, &channels) != 0;
}

StbPixels stbDecode(const uint8_t* file, int bytes, int channels) {
    int width = 0, height = 0, stored = 0;
    return StbPixels(stbi_load_from_memory(file, bytes, &width, &height, &stored, channels));
}

const char* stbReason() {
    const char* reason = stbi_failure_reason();
    return reason ? reason : "no reason given";
}

bool stbResize(const uint8_t* from, int width, int height, int stride, uint8_t* to, int toWidth, int toHeight,
               int toStride, int channels) {
    return stbir_resize_uint8(from, width, height, stride, to, toWidth, toHeight, toStride, channels) != 0;
}

std::vector<uint8_t> stbPng(const uint8_t* pixels, int width, int height, int channels) {
    int size = 0;
    const StbPixels file(stbi_write_png_to_mem(pixels, width * channels, width, height, channels, &size));
    if (!file) throw std::bad_alloc();
    return std::vector<uint8_t>(file.get(), file.get() + size);
}

}  // namespace mnnc::image
