// The bytes of a file, of a caller's buffer or of a caller's reader, always aligned to 8 or better.
//
// They lie in memory as a whole (copied, borrowed, read, mapped), or stay in their source (Access::OnDemand): then data()
// is memory of the source's size that holds what fetch() has read and zeros elsewhere, and view() reads the rest when
// somebody wants it, into memory of the reader. What was fetched is never read again, so what has been verified stays
// as it is; what view() gives may differ from what was there before, and its decoder has to check it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
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
    static ModelBytes fromFile(const char* path, Access access = Access::OnDemand,
                               const Cancellation& cancel = {});
    // They stay in the source.
    static ModelBytes fromSource(std::unique_ptr<const ByteSource> source);
    // Throws NullArgument, or Truncated when size is 0.
    static ModelBytes copied(const void* data, size_t size);
    // owner: goes when the buffer is needed no more; null: the caller keeps the buffer alive. An unaligned buffer is
    // copied after all.
    static ModelBytes borrowed(const void* data, size_t size, std::shared_ptr<const void> owner = {});

    size_t size() const noexcept { return size_; }
    // Of bytes that stay in the file null before the first fetch().
    const uint8_t* data() const noexcept { return data_; }
    bool isMapped() const noexcept { return isMapped_; }
    bool staysInFile() const noexcept { return source_ != nullptr; }

    // Brings a range of data() into memory for good. Only before others use the object. False: it ends beyond the
    // end.
    bool fetch(size_t offset, size_t bytes);
    // All of it: nothing stays in the file.
    void fetchAll(const Cancellation& cancel = {});
    // Throws FileChanged.
    void requireUnchanged() const;

    // A range, which must lie inside: where it is in memory, or read. Throws FileChanged, FileReadFailed. Safe to call
    // from several threads.
    HeldBytes view(size_t offset, size_t bytes) const;
    bool inMemory(size_t offset, size_t bytes) const noexcept;
    // Takes the pages of a mapped file out of memory; a later read gets them back from the file.
    void dropPages() const noexcept;
    // Frees the memory that view() keeps for its next caller.
    void dropBuffers() const noexcept;

  private:
    const uint8_t* data_ = nullptr;
    size_t size_ = 0;
    void* mapping_ = nullptr;  // of the file, or memory for what is fetched from it
    bool isMapped_ = false;    // the former
    std::unique_ptr<uint8_t[]> owned_;
    std::shared_ptr<const void> owner_;         // keeps borrowed bytes
    std::unique_ptr<const ByteSource> source_;  // what stays there is read from here
    std::vector<bool> fetched_;                 // by block; empty: nothing
    std::shared_ptr<ReadBuffers> buffers_;
};

}  // namespace mnnc
