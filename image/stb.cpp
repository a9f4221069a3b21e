// The only source that compiles the headers of stb.
#include "stb.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace {

// The memory of one call of stb. When the host has no more memory, stb_image_write would continue, and stb_image would
// take the file for one of another kind. So std::bad_alloc is thrown through their functions, and their blocks are
// freed here.
class Memory {
  public:
    Memory() { current = this; }
    ~Memory() {
        for (void* const block : blocks_) std::free(block);
        current = nullptr;
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    // New blocks hold zeros: stb_image returns pixels that an incomplete file lacks as they are in its memory.
    void* resize(void* memory, size_t bytes) {
        if (!memory) blocks_.push_back(nullptr);
        void*& block = *find(memory);
        const size_t size = std::max<size_t>(bytes, 1);
        void* const resized = memory ? std::realloc(memory, size) : std::calloc(1, size);
        if (!resized) throw std::bad_alloc();
        return block = resized;
    }
    void free(void* memory) { std::free(taken(memory)); }
    // Passes a block on to the caller, who frees it.
    void* taken(void* memory) {
        if (memory) {
            *find(memory) = blocks_.back();
            blocks_.pop_back();
        }
        return memory;
    }

    static thread_local Memory* current;

  private:
    // The latest blocks are those that change.
    std::vector<void*>::iterator find(void* block) {
        return std::find(blocks_.rbegin(), blocks_.rend(), block).base() - 1;
    }
    std::vector<void*> blocks_;
};
thread_local Memory* Memory::current = nullptr;

// Limits each allocation of stb_image, because a few bytes can announce gigabytes.
void* boundedResize(void* memory, size_t bytes) {
    return bytes > mnnc::image::kMaxFileBytes ? nullptr : Memory::current->resize(memory, bytes);
}

}  // namespace

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#ifndef __clang__  // which has no such warning
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define STBI_MALLOC(bytes) boundedResize(nullptr, bytes)
#define STBI_REALLOC(memory, bytes) boundedResize(memory, bytes)
#define STBI_FREE(memory) Memory::current->free(memory)
// Only the documented formats: the content of a file chooses the reader, not its name.
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
#define STBIW_MALLOC(bytes) Memory::current->resize(nullptr, bytes)
#define STBIW_REALLOC(memory, bytes) Memory::current->resize(memory, bytes)
#define STBIW_FREE(memory) Memory::current->free(memory)
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace mnnc::image {

void FreeStb::operator()(uint8_t* memory) const {
    std::free(memory);
}

bool stbInfo(const uint8_t* file, int bytes, int& width, int& height, int& channels) {
    Memory memory;
    return stbi_info_from_memory(file, bytes, &width, &height, &channels) != 0;
}

StbPixels stbDecode(const uint8_t* file, int bytes, int channels) {
    Memory memory;
    int width = 0, height = 0, stored = 0;
    uint8_t* const pixels = stbi_load_from_memory(file, bytes, &width, &height, &stored, channels);
    memory.taken(pixels);
    return StbPixels(pixels);
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
    Memory memory;
    int size = 0;
    const uint8_t* file = stbi_write_png_to_mem(pixels, width * channels, width, height, channels, &size);
    return std::vector<uint8_t>(file, file + size);
}

}  // namespace mnnc::image
