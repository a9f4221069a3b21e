// The bytes of a file, of a caller's buffer or of a caller's reader.
//
// They stay in their source. data() is memory of the source's size that holds what fetch() has copied and zeros
// elsewhere, and view() gives the rest when it is wanted: in place where the source lies in memory, else read into
// memory of the reader. What was fetched is never read again, so what has been verified stays as it is; what view()
// gives may differ from what was there before, and its decoder has to check it. So the source can be released while
// others use what was fetched.
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

// Bytes, and what keeps them in memory when nothing else does.
struct HeldBytes {
    std::span<const uint8_t> bytes;
    std::shared_ptr<const void> owner;  // null: they live as long as the ModelBytes
};

class ModelBytes {
  public:
    // Map: only for files that do not change; reading a mapping of a file that was cut ends the process.
    enum class Access { OnDemand, Map, Read };

    ModelBytes() = default;
    ModelBytes(ModelBytes&& other) noexcept;
    ModelBytes& operator=(ModelBytes&& other) noexcept;
    ModelBytes(const ModelBytes&) = delete;
    ModelBytes& operator=(const ModelBytes&) = delete;
    ~ModelBytes();

    // Throws what File does, FileReadFailed, FileChanged, OutOfMemory, and Cancelled where a large file is read whole.
    static ModelBytes fromFile(const char* path, Access access = Access::OnDemand, const Cancellation& cancel = {});
    // They stay in the source.
    static ModelBytes fromSource(std::unique_ptr<const ByteSource> source);
    // Throws NullArgument, or Truncated when size is 0.
    static ModelBytes copied(const void* data, size_t size);
    // owner: goes when the buffer is needed no more; null: the caller keeps the buffer alive. An unaligned buffer is
    // copied after all.
    static ModelBytes borrowed(const void* data, size_t size, std::shared_ptr<const void> owner = {});

    size_t size() const noexcept { return size_; }
    // Null before the first fetch().
    const uint8_t* data() const noexcept { return data_; }

    // Brings a range of data() into memory for good. Only before others use the object. False: it ends beyond the
    // end.
    bool fetch(size_t offset, size_t bytes);
    // All of it.
    void fetchAll();
    // Throws FileChanged.
    void requireUnchanged() const;

    // A range, which must lie inside: where it is in memory, or read. Throws FileChanged, FileReadFailed, BadState
    // after release(). Safe to call from several threads.
    HeldBytes view(size_t offset, size_t bytes) const;
    // Whether a range was fetched.
    bool inMemory(size_t offset, size_t bytes) const noexcept;
    // Gives the source back: at once, or when the last view of it goes. Safe to call from several threads.
    void release() const noexcept;
    // Takes the pages of a mapped file out of memory; a later read gets them back from the file.
    void dropPages() const noexcept;
    // Frees the memory that view() keeps for its next caller.
    void dropBuffers() const noexcept;

  private:
    // Several threads may take the source while another one gives it back.
    struct Held {
        std::mutex mutex;
        std::shared_ptr<const ByteSource> source;
    };

    std::shared_ptr<const ByteSource> source() const;  // null: released

    const uint8_t* data_ = nullptr;
    size_t size_ = 0;
    void* mapping_ = nullptr;    // memory for what is fetched
    std::vector<bool> fetched_;  // by block; empty: nothing
    std::unique_ptr<Held> held_;
    std::shared_ptr<ReadBuffers> buffers_;
};

}  // namespace mnnc
