// Allocates prepared weights from a few large mappings, in huge pages where the system has them.
#include "backend/weight_memory.h"

#include <algorithm>
#include <vector>

#include "base/aligned.h"
#include "base/checked.h"
#include "base/os/memory.h"

namespace mnnc {

namespace {

constexpr int64_t kHuge = int64_t{2} << 20;
constexpr int64_t kMapping = int64_t{32} << 20;  // addresses, not memory
constexpr int64_t kMaxAhead = int64_t{1} << 40;
constexpr int64_t kPage = 64 << 10;  // no supported system has larger pages

// Tools that watch each block of memory need separate blocks.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSideBySide = false;
#else
constexpr bool kSideBySide = true;
#endif

}  // namespace

class WeightMemory::Mapping {
  public:
    explicit Mapping(int64_t minBytes)
        : size_(std::max(kMapping, roundUp(minBytes, kHuge))), live_(static_cast<size_t>(size_ / kPage)) {
        // One huge page more, because mappings begin at any address.
        const auto all = static_cast<size_t>(size_ + kHuge);
        memory_ = os::reserveMemory(all, false);
        if (!memory_) return;
        const auto at = reinterpret_cast<uintptr_t>(memory_);
        base_ = static_cast<char*>(memory_) + (kHuge - static_cast<int64_t>(at % kHuge)) % kHuge;
    }
    ~Mapping() { os::releaseMemory(memory_, static_cast<size_t>(size_ + kHuge)); }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    explicit operator bool() const { return base_ != nullptr; }
    bool fits(int64_t bytes) const { return bytes <= size_ - used_; }

    // One thread at a time takes memory; others may release memory meanwhile. Null: the system has no more memory.
    char* take(int64_t bytes, int64_t more) {
        char* const begin = base_ + used_;
        {
            const std::lock_guard lock(mutex_);
            if (!os::useMemory(begin, static_cast<size_t>(bytes))) return nullptr;
            for (int64_t page = used_ / kPage; page <= (used_ + bytes - 1) / kPage; ++page) ++live(page);
        }
        used_ += bytes;
        // Use huge pages as far as this buffer and the expected ones after it reach.
        const int64_t filled = std::min(size_, used_ + std::clamp<int64_t>(more, 0, kHuge));
        const int64_t huge = filled / kHuge * kHuge;
        if (huge > advised_) os::preferHugePages(base_ + advised_, static_cast<size_t>(huge - advised_));
        // A range that begins in small pages stays in them.
        advised_ = std::max({advised_, huge, roundUp(used_, kHuge)});
        return begin;
    }

    // Releases the pages that no other buffer uses: sessions that change constants release many small buffers.
    void giveBack(char* data, int64_t bytes) noexcept {
        int64_t first = (data - base_) / kPage, last = (data - base_ + bytes - 1) / kPage;
        const std::lock_guard lock(mutex_);
        for (int64_t page = first; page <= last; ++page) --live(page);
        // Only the first and the last page of a buffer may be shared with other buffers.
        if (live(first) > 0) ++first;
        if (last >= first && live(last) > 0) --last;
        if (first > last) return;
        os::returnMemory(base_ + first * kPage, static_cast<size_t>((last - first + 1) * kPage));
    }

  private:
    uint32_t& live(int64_t page) { return live_[static_cast<size_t>(page)]; }

    const int64_t size_;
    std::mutex mutex_;            // guards live_ and the release of pages
    std::vector<uint32_t> live_;  // the number of buffers in each page
    void* memory_ = nullptr;
    char* base_ = nullptr;
    int64_t used_ = 0;
    int64_t advised_ = 0;  // the kind of pages is decided up to here
};

std::shared_ptr<void> WeightMemory::allocate(int64_t bytes, int64_t more) {
    const int64_t rounded = roundUp(checkedAdd(bytes, 64, "prepared weights"), 64);
    if (kSideBySide && rounded <= INT64_MAX / 2) {
        const std::lock_guard lock(mutex_);
        auto mapping = current_.lock();
        if (!mapping || !mapping->fits(rounded)) {
            mapping = std::make_shared<Mapping>(rounded + std::clamp<int64_t>(more, 0, kMaxAhead));
            if (!*mapping) mapping = std::make_shared<Mapping>(rounded);  // the address space may be limited
            if (*mapping) current_ = mapping;
        }
        if (*mapping) {
            if (char* const data = mapping->take(rounded, more))
                return {data, [mapping, rounded](void* p) { mapping->giveBack(static_cast<char*>(p), rounded); }};
        }
    }
    // The address space has no room for a mapping: allocate this buffer separately.
    const auto buffer = std::make_shared<AlignedBuffer>(bytes);
    return {buffer, buffer->data()};
}

}  // namespace mnnc
