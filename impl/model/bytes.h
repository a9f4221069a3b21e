// The bytes of a file, of a caller's buffer or of a caller's reader.
//
// They stay in their source. data() is memory of the source's size; it contains the bytes that fetch() has copied, and
// zeros elsewhere. view() reads the other bytes on demand: in place where the source lies in memory, else into memory
// of the reader. Fetched bytes are never read again, so verified data does not change; bytes from view() may differ
// from earlier ones, so their decoder has to check them. The source can therefore be released while others use fetched
// bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/cancellation.h"
#include "model/byte_source.h"

namespace mnnc {

class ReadBuffers;

struct ByteRange {
    size_t offset, bytes;
};

// Bytes together with the owner that keeps them in memory.
struct HeldBytes {
    std::span<const uint8_t> bytes;
    std::shared_ptr<const void> owner;  // null: they live as long as the ModelBytes
};

class ModelBytes {
  public:
    // Map: only for files that do not change; reading beyond the end of a truncated file ends the process.
    enum class Access { OnDemand, Map, Read };

    ModelBytes() = default;
    ModelBytes(ModelBytes&& other) noexcept;
    ModelBytes& operator=(ModelBytes&& other) noexcept;
    ModelBytes(const ModelBytes&) = delete;
    ModelBytes& operator=(const ModelBytes&) = delete;
    ~ModelBytes();

    // Throws what File does, FileReadFailed, FileChanged, OutOfMemory, and Cancelled while a large file is read
    // completely.
    static ModelBytes fromFile(const char* path, Access access = Access::OnDemand, const Cancellation& cancel = {});
    // The bytes stay in the source.
    static ModelBytes fromSource(std::unique_ptr<const ByteSource> source);
    // Throws NullArgument, or Truncated when size is 0.
    static ModelBytes copied(const void* data, size_t size);
    // owner: released when the buffer is not needed any more; null: the caller keeps the buffer alive. An unaligned
    // buffer is copied.
    static ModelBytes borrowed(const void* data, size_t size, std::shared_ptr<const void> owner = {});

    size_t size() const noexcept { return size_; }
    // Null before the first fetch().
    const uint8_t* data() const noexcept { return data_; }

    // Copies a range to data() for good. Callable only before the object is shared. Returns false when the range ends
    // beyond the end.
    bool fetch(size_t offset, size_t bytes);
    // Fetches all bytes.
    void fetchAll();
    // Throws FileChanged.
    void requireUnchanged() const;

    // Returns a range, which must lie inside: in place where it is in memory, else read. Throws FileChanged,
    // FileReadFailed, BadState after release(). Safe to call from several threads.
    HeldBytes view(size_t offset, size_t bytes) const;
    // Whether a range was fetched.
    bool inMemory(size_t offset, size_t bytes) const noexcept;
    // Releases the source: at once, or with the last view of it. Safe to call from several threads.
    void release() const noexcept;
    // Returns a source that has these ranges, which must lie inside, in memory of the library: a copy, or the present
    // source where that is in such memory already. Null after release(). Throws what reading throws, and OutOfMemory.
    std::shared_ptr<const ByteSource> kept(std::span<const ByteRange> ranges) const;
    // Exchanges the present source for the given one; does nothing after release().
    void exchange(std::shared_ptr<const ByteSource>& source) const noexcept;
    // Removes the pages of a mapped file from memory; a later access reads them from the file again.
    void dropPages() const noexcept;
    // Frees the memory that view() keeps for its next caller.
    void dropBuffers() const noexcept;

  private:
    // Several threads may use the source while another one releases it.
    struct Held {
        std::mutex mutex;
        std::shared_ptr<const ByteSource> source;
    };

    std::shared_ptr<const ByteSource> source() const;  // null: released

    const uint8_t* data_ = nullptr;
    size_t size_ = 0;
    void* mapping_ = nullptr;    // memory for fetched bytes
    std::vector<bool> fetched_;  // by block; empty: none
    std::unique_ptr<Held> held_;
    std::shared_ptr<ReadBuffers> buffers_;
};

}  // namespace mnnc
