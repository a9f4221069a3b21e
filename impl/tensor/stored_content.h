// The content of a constant that stays in a file until it is needed in memory.
#pragma once
#include <memory>

namespace mnnc {

class StoredContent {
  public:
    virtual ~StoredContent() = default;
    // The content, row-major, for as long as the result lives; one copy for all who hold it at a time. Reads a file and
    // locks: for planning. Throws FileChanged, FileReadFailed, OutOfMemory. Safe to call from several threads.
    virtual std::shared_ptr<const void> load() const = 0;
};

}  // namespace mnnc
