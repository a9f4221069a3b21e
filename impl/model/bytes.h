// The bytes of a file or of a caller's buffer, owned or borrowed, always aligned to 8 or better.
// A file is mapped when possible and read in chunks otherwise; FlatBuffers then works on it in place.
// A mapped file must not be shortened by others while it is in use: ask for Access::Read if it may be.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace mnnc {

class ModelBytes {
  public:
    enum class Access { Map, Read };

    ModelBytes() = default;
    ModelBytes(ModelBytes&& other) noexcept { *this = static_cast<ModelBytes&&>(other); }
    ModelBytes& operator=(ModelBytes&& other) noexcept;
    ModelBytes(const ModelBytes&) = delete;
    ModelBytes& operator=(const ModelBytes&) = delete;
    ~ModelBytes();

    // Throws NullArgument, FileNotExist, FileOpenFailed (also for directories and devices), FileReadFailed,
    // Truncated for an empty file.
    static ModelBytes fromFile(const char* path, Access access = Access::Map);
    // Throws NullArgument, or Truncated when size is 0.
    static ModelBytes copied(const void* data, size_t size);
    // The caller keeps the buffer alive. An unaligned buffer is copied after all.
    static ModelBytes borrowed(const void* data, size_t size);

    const uint8_t* data() const noexcept { return data_; }
    size_t size() const noexcept { return size_; }
    bool isMapped() const noexcept { return mapping_ != nullptr; }
    // Takes the pages of a mapped file out of memory; whoever reads them again gets them back from the file.
    void dropPages() const noexcept;

  private:
    const uint8_t* data_ = nullptr;
    size_t size_ = 0;
    void* mapping_ = nullptr;
    std::unique_ptr<uint8_t[]> owned_;
};

}  // namespace mnnc
