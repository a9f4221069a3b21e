// A block of 64-byte aligned memory; allocation failure is an Error that names the size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/checked.h"
#include "base/host_memory.h"
#include "base/os/memory.h"

namespace mnnc {

class AlignedBuffer {
  public:
    static constexpr size_t kAlignment = 64;
    // Slack after the end: kernels may load (never store) a whole vector beyond the last element.
    static constexpr int64_t kSlack = 64;

    AlignedBuffer() = default;
    // source: null for the library's own allocation.
    explicit AlignedBuffer(int64_t bytes, HostMemoryPtr source = nullptr) : source_(std::move(source)) {
        if (bytes < 0) fail(Status::Overflow, "a buffer of %lld bytes is asked for", static_cast<long long>(bytes));
        if (bytes == 0) return;
        const auto rounded = static_cast<size_t>(roundUp(checkedAdd(bytes, kSlack, "buffer"), kAlignment));
        data_ = source_ ? source_->allocate(rounded, kAlignment) : allocate(rounded);
        if (!data_)
            fail(Status::OutOfMemory, "there is no memory for a buffer of %lld bytes", static_cast<long long>(bytes));
        if (reinterpret_cast<uintptr_t>(data_) % kAlignment != 0) {
            void* const given = data_;
            source_->release(given, rounded, kAlignment);
            fail(Status::InvalidValue, "the allocator gave memory at %p, which is not aligned to %zu bytes", given,
                 kAlignment);
        }
        size_ = static_cast<size_t>(bytes);
    }
    AlignedBuffer(AlignedBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          source_(std::move(other.source_)) {}
    AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(source_, other.source_);
        return *this;
    }
    ~AlignedBuffer() {
        if (data_ && source_)
            source_->release(data_, (size_ + kSlack + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
        else
            os::freeAligned(data_);
    }

    void* data() noexcept { return data_; }
    const void* data() const noexcept { return data_; }
    size_t size() const noexcept { return size_; }
    template <typename T>
    T* as() noexcept {
        return static_cast<T*>(data_);
    }
    template <typename T>
    const T* as() const noexcept {
        return static_cast<const T*>(data_);
    }

  private:
    // Large buffers lie in huge pages where the system has them, which cause fewer page faults at first and fewer TLB
    // misses later. A buffer that does not nearly fill one stays in small pages, so that little more memory is held
    // than requested.
    static void* allocate(size_t bytes) {
        constexpr size_t kHuge = size_t{2} << 20;
        constexpr size_t kSpare = size_t{128} << 10;
        const size_t huge = (bytes + kSpare) / kHuge * kHuge;
        if (huge == 0) return os::allocateAligned(kAlignment, bytes);
        void* data = os::allocateAligned(kHuge, (bytes + kHuge - 1) / kHuge * kHuge);
        if (data) os::preferHugePages(data, huge);
        return data;
    }

    void* data_ = nullptr;
    size_t size_ = 0;
    HostMemoryPtr source_;
};

}  // namespace mnnc
