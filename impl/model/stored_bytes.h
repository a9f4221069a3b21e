// Locates an array of the model or of its weight file, to be read completely or in parts.
#pragma once
#include "model/bytes.h"

namespace mnnc {

class StoredBytes {
  public:
    StoredBytes() = default;
    // A range inside of `file`, which has to outlive this object.
    StoredBytes(const ModelBytes& file, size_t offset, size_t size) : file_(&file), offset_(offset), size_(size) {}
    // Bytes that lie in memory.
    explicit StoredBytes(std::span<const uint8_t> bytes) : data_(bytes.data()), size_(bytes.size()) {}

    size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    bool inMemory() const noexcept { return !file_ || file_->inMemory(offset_, size_); }
    // Throws FileChanged, FileReadFailed.
    HeldBytes read() const { return read(0, size_); }
    // Reads a part that must lie inside.
    HeldBytes read(size_t first, size_t bytes) const {
        if (file_) return file_->view(offset_ + first, bytes);
        return {{data_ + first, bytes}, nullptr};
    }
    // Returns the beginning, at most this many bytes.
    StoredBytes head(size_t maxBytes) const {
        StoredBytes part = *this;
        part.size_ = size_ < maxBytes ? size_ : maxBytes;
        return part;
    }

  private:
    const ModelBytes* file_ = nullptr;  // null: at data_
    const uint8_t* data_ = nullptr;
    size_t offset_ = 0;
    size_t size_ = 0;
};

}  // namespace mnnc
