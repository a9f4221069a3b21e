// The content of a constant that stays in a file until it is needed in memory.
#pragma once
#include <memory>

#include "model/stored_floats.h"

namespace mnnc {

class StoredContent {
  public:
    virtual ~StoredContent() = default;
    // The content, row-major, for as long as the result lives; one copy for all who hold it at a time. Reads a file and
    // locks: for planning. Throws FileChanged, FileReadFailed, OutOfMemory. Safe to call from several threads.
    virtual std::shared_ptr<const void> load() const = 0;
    // The same of a constant of floats in pieces, which are read one by one where the file has them as they are. It
    // must not outlive this. Throws as load(), here and when it is asked for a piece.
    virtual FloatSource floats() const = 0;
};

}  // namespace mnnc
