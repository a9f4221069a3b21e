// Bytes of a model in memory, and the release of their pages.
#include "model/memory_source.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/os/memory.h"

// Tools that watch each block of memory need separate blocks.
#if defined(__SANITIZE_ADDRESS__)
#define MNN_C_WATCHED_BLOCKS 1
#elif defined(__has_feature)
#define MNN_C_WATCHED_BLOCKS __has_feature(address_sanitizer)
#else
#define MNN_C_WATCHED_BLOCKS 0
#endif

namespace mnnc {

namespace {

constexpr size_t kPage = size_t{64} << 10;  // a whole number of pages of any system

}  // namespace

void* reserveZeros(size_t bytes, const std::string& name) {
#if MNN_C_WATCHED_BLOCKS
    void* memory = std::calloc(bytes, 1);
#else
    void* memory = os::reserveMemory(bytes, false);
    if (memory) {
        os::preferSmallPages(memory, bytes);  // most of it may stay untouched
        if (!os::useMemory(memory, bytes)) {
            os::releaseMemory(memory, bytes);
            memory = nullptr;
        }
    }
#endif
    if (!memory) fail(Status::OutOfMemory, "there is no address space for the %zu bytes of '%s'", bytes, name.c_str());
    return memory;
}

void releaseZeros(void* memory, [[maybe_unused]] size_t bytes) noexcept {
#if MNN_C_WATCHED_BLOCKS
    std::free(memory);
#else
    os::releaseMemory(memory, bytes);
#endif
}

void MemorySource::read(size_t offset, void* out, size_t bytes) const {
    std::memcpy(out, data_ + offset, bytes);
}

class OwnMemory::Hold {
  public:
    Hold(std::shared_ptr<const ByteSource> self, const OwnMemory& memory, std::list<Range>::iterator place)
        : self_(std::move(self)), memory_(memory), place_(place) {}
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
        const std::lock_guard lock(memory_.mutex_);
        const Range range = *place_;
        memory_.held_.erase(place_);
        if (memory_.givesBack_) memory_.returnUnheld(range);
    }

  private:
    const std::shared_ptr<const ByteSource> self_;
    const OwnMemory& memory_;
    const std::list<Range>::iterator place_;
};

OwnMemory::OwnMemory(size_t size, const std::string& name) : OwnMemory(reserveZeros(size, name), size) {}

OwnMemory::OwnMemory(void* memory, size_t size)
    : MemorySource(static_cast<const uint8_t*>(memory), size), memory_(static_cast<uint8_t*>(memory)) {}

OwnMemory::~OwnMemory() {
    releaseZeros(memory_, size());
}

std::shared_ptr<const void> OwnMemory::hold(std::shared_ptr<const ByteSource> self, size_t offset, size_t bytes) const {
    std::list<Range> added{{offset, offset + bytes}};
    const std::lock_guard lock(mutex_);
    if (givesBack_) return nullptr;
    const auto place = added.begin();
    auto owner = std::make_shared<const Hold>(std::move(self), *this, place);
    held_.splice(held_.end(), added);
    return owner;
}

void OwnMemory::giveBackRest() const noexcept {
    const std::lock_guard lock(mutex_);
    givesBack_ = true;
    returnUnheld({0, size()});
}

void OwnMemory::returnUnheld([[maybe_unused]] Range range) const noexcept {
#if !MNN_C_WATCHED_BLOCKS
    const auto begin = [](const Range& r) { return r.begin / kPage * kPage; };
    const auto end = [](const Range& r) { return (r.end + kPage - 1) / kPage * kPage; };
    for (size_t at = begin(range); at < end(range);) {
        size_t heldUntil = at, next = end(range);
        for (const Range& held : held_) {
            if (begin(held) > at)
                next = std::min(next, begin(held));
            else
                heldUntil = std::max(heldUntil, end(held));
        }
        if (heldUntil == at) os::returnMemory(memory_ + at, std::min(next, size()) - at);
        at = heldUntil == at ? next : heldUntil;
    }
#endif
}

}  // namespace mnnc
