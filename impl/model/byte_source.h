// The source of the bytes of a model or of its weights: a file, a reader of the host, or memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace mnnc {

class ByteSource {
  public:
    virtual ~ByteSource() = default;
    // Used in error sentences: the path of a file.
    virtual const std::string& name() const noexcept = 0;
    virtual size_t size() const noexcept = 0;
    // Reads a range that lies inside; throws the reason when it cannot. The bytes may have changed since an earlier
    // read. Safe to call from several threads.
    virtual void read(size_t offset, void* out, size_t bytes) const = 0;
    // Throws FileChanged when the bytes are known to differ from those at the beginning.
    virtual void requireUnchanged() const = 0;
    // The address of all bytes, aligned to 8 or better, when they lie in memory; else null.
    virtual const uint8_t* data() const noexcept { return nullptr; }
    // Whether the bytes lie in memory of the library.
    virtual bool isOwn() const noexcept { return false; }
    // Returns an owner that keeps a range of data() alive, made from `self`, the owner of the source; null after
    // giveBackRest(). Safe to call from several threads.
    virtual std::shared_ptr<const void> hold(std::shared_ptr<const ByteSource> self, size_t /*offset*/,
                                             size_t /*bytes*/) const {
        return self;
    }
    // Frees the ranges that nothing holds, where the source is able to. Safe to call from several threads.
    virtual void giveBackRest() const noexcept {}
    // Removes the pages of a mapped file from memory; a later access reads them from the file again.
    virtual void dropPages() const noexcept {}
};

}  // namespace mnnc
