// Where the bytes of a model or of its weights are until they are read: in a file, a reader of the host, or memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace mnnc {

class ByteSource {
  public:
    virtual ~ByteSource() = default;
    // For sentences: the path of a file.
    virtual const std::string& name() const noexcept = 0;
    virtual size_t size() const noexcept = 0;
    // Reads a range that lies inside; throws why it cannot. What comes may differ from what came before. Safe to call
    // from several threads.
    virtual void read(size_t offset, void* out, size_t bytes) const = 0;
    // Throws FileChanged where it is known that the bytes are no longer those that were there at first.
    virtual void requireUnchanged() const = 0;
    // All of them, aligned to 8 or better, where they lie in memory; else null.
    virtual const uint8_t* data() const noexcept { return nullptr; }
    // Takes the pages of a mapped file out of memory; a later read gets them back from the file.
    virtual void dropPages() const noexcept {}
};

}  // namespace mnnc
