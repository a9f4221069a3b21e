// The content of a constant that stays in a file until it is needed in memory.
#pragma once
#include <memory>

#include "model/stored_floats.h"

namespace mnnc {

class StoredContent {
  public:
    virtual ~StoredContent() = default;
    // Returns the row-major content, which lives as long as the result; simultaneous holders share one copy. Reads a
    // file and locks: for planning. Throws FileChanged, FileReadFailed, OutOfMemory. Safe to call from several threads.
    virtual std::shared_ptr<const void> load() const = 0;
    // Returns the content of a constant of floats in pieces, which are read one by one where the file stores them
    // unchanged. The result must not outlive this object. Throws what load() throws, here and when a piece is read.
    virtual FloatSource floats() const = 0;
};

}  // namespace mnnc
