// A file that stays open for reading, with the state by which later changes are recognised.
#pragma once
#include <cstddef>
#include <string>

#include "base/error.h"
#include "base/os/files.h"
#include "model/byte_source.h"

namespace mnnc {

class File final : public ByteSource {
  public:
    // Throws NullArgument, FileNotExist, FileOpenFailed (also for directories and devices), Truncated for an
    // empty file.
    explicit File(const char* path);

    const std::string& name() const noexcept override { return path_; }
    size_t size() const noexcept override { return static_cast<size_t>(opened_.bytes); }
    const os::InputFile& system() const noexcept { return file_; }
    // A change within the same tick of the file system's clock leaves no trace. So a file that was modified less than a
    // second before it was opened may change without being recognised.
    bool justModified() const noexcept { return justModified_; }

    // Throws FileChanged when the file was written, truncated or extended since it was opened. Removing its path, or
    // renaming another file over it, is no change: the descriptor keeps the file.
    void requireUnchanged() const override;
    // Throws FileReadFailed, or FileChanged when the file ends too early because it was truncated; does not recognise
    // other changes. Safe to call from several threads.
    void read(size_t offset, void* out, size_t bytes) const override;

  private:
    os::FileFacts examine(Status failure) const;  // failure: the status that a failure throws

    std::string path_;
    os::InputFile file_;
    os::FileFacts opened_;
    bool justModified_ = false;
};

}  // namespace mnnc
