// Bytes that stay outside of memory until they are wanted: those of a file, or of a reader of the host.
#pragma once
#include <cstddef>
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
};

}  // namespace mnnc
