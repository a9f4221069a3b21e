// Bytes of a model in memory: of the caller, or of the library.
#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "model/byte_source.h"

namespace mnnc {

// Returns zeroed memory whose pages are allocated when they are touched. Throws OutOfMemory with the name of the bytes.
void* reserveZeros(size_t bytes, const std::string& name);
void releaseZeros(void* memory, size_t bytes) noexcept;

class MemorySource : public ByteSource {
  public:
    static constexpr const char* kName = "bytes in memory";

    MemorySource(const uint8_t* data, size_t size) : data_(data), size_(size) {}
    const std::string& name() const noexcept override { return name_; }
    size_t size() const noexcept override { return size_; }
    void read(size_t offset, void* out, size_t bytes) const override;
    void requireUnchanged() const override {}
    const uint8_t* data() const noexcept override { return data_; }

  private:
    const std::string name_ = kName;
    const uint8_t* const data_;
    const size_t size_;
};

// Memory of the library, which is written before it is shared. After giveBackRest() only the pages of held ranges stay:
// a large constant that a session uses in place does not keep the rest of the model in memory.
class OwnMemory final : public MemorySource {
  public:
    // `name` is that of the file or buffer that is copied; the error contains it. Throws OutOfMemory.
    OwnMemory(size_t size, const std::string& name);
    ~OwnMemory() override;
    OwnMemory(const OwnMemory&) = delete;
    OwnMemory& operator=(const OwnMemory&) = delete;

    uint8_t* bytes() noexcept { return memory_; }
    bool isOwn() const noexcept override { return true; }
    std::shared_ptr<const void> hold(std::shared_ptr<const ByteSource> self, size_t offset,
                                     size_t bytes) const override;
    void giveBackRest() const noexcept override;

  private:
    struct Range {
        size_t begin, end;
    };
    class Hold;

    OwnMemory(void* memory, size_t size);
    void returnUnheld(Range range) const noexcept;

    uint8_t* const memory_;
    mutable std::mutex mutex_;
    mutable std::list<Range> held_;
    mutable bool givesBack_ = false;
};

}  // namespace mnnc
