// The only source that compiles the headers of stb.
#include "stb.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

// Header of each block that stb allocates. The blocks of one call form a ring.
struct alignas(std::max_align_t) Block {
    Block *next, *previous;
};
Block* blockOf(void* memory) {
    return static_cast<Block*>(memory) - 1;
}

// The memory of one call of stb. When the host has no more memory, stb_image_write would continue, and stb_image would
// take the file for one of another kind. So std::bad_alloc is thrown through their functions, and their blocks are
// freed here.
class Memory {
  public:
    Memory() { current = this; }
    ~Memory() {
        while (ring_.next != &ring_) std::free(unlinked(ring_.next));
        current = nullptr;
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    void* resize(void* memory, size_t bytes) {
        Block* const old = memory ? unlinked(blockOf(memory)) : nullptr;
        auto* const block = static_cast<Block*>(std::realloc(old, sizeof(Block) + bytes));
        if (!block) {
            if (old) link(old);
            throw std::bad_alloc();
        }
        link(block);
        return block + 1;
    }
    void free(void* memory) {
        if (memory) std::free(unlinked(blockOf(memory)));
    }
    // Passes a block on to the caller, who frees it with FreeStb.
    mnnc::image::StbPixels taken(unsigned char* memory) {
        if (memory) unlinked(blockOf(memory));
        return mnnc::image::StbPixels(memory);
    }

    static thread_local Memory* current;

  private:
    void link(Block* block) {
        *block = {ring_.next, &ring_};
        ring_.next->previous = block;
        ring_.next = block;
    }
    static Block* unlinked(Block* block) {
        block->previous->next = block->next;
        block->next->previous = block->previous;
        return block;
    }
    Block ring_{&ring_, &ring_};
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
    if (memory) std::free(blockOf(memory));
}

bool stbInfo(const uint8_t* file, int bytes, int& width, int& height, int& channels) {
    Memory memory;
    return stbi_info_from_memory(file, bytes, &width, &height, &channels) != 0;
}

StbPixels stbDecode(const uint8_t* file, int bytes, int channels) {
    Memory memory;
    int width = 0, height = 0, stored = 0;
    return memory.taken(stbi_load_from_memory(file, bytes, &width, &height, &stored, channels));
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
