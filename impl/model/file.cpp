// Opens, examines and reads a file. Every failure names the path and includes the text of the operating system.
#include "model/file.h"

#include <system_error>

#include "base/error.h"

namespace mnnc {

namespace {

// A time in the future counts as just now.
bool lessThanASecondAgo(int64_t time) {
    return os::fileClock() - time < 1'000'000'000;
}

}  // namespace

File::File(const char* path) {
    if (!path) fail(Status::NullArgument, "the path of the file is NULL");
    path_ = path;
    if (!file_.open(path)) {
        const int error = os::lastError();
        fail(os::saysMissing(error) ? Status::FileNotExist : Status::FileOpenFailed, "cannot open '%s': %s", path,
             os::errorText(error).c_str());
    }
    opened_ = examine(Status::FileOpenFailed);
    if (opened_.kind == os::FileFacts::Kind::Folder)
        fail(Status::FileOpenFailed, "cannot open '%s': %s", path,
             std::make_error_code(std::errc::is_a_directory).message().c_str());
    if (opened_.kind != os::FileFacts::Kind::Regular)
        fail(Status::FileOpenFailed, "cannot open '%s': it is not a regular file", path);
    if (opened_.bytes <= 0) fail(Status::Truncated, "'%s' is empty", path);
    justModified_ = lessThanASecondAgo(opened_.modified);
}

os::FileFacts File::examine(Status failure) const {
    os::FileFacts facts;
    if (!file_.facts(facts))
        fail(failure, "cannot examine '%s': %s", path_.c_str(), os::errorText(os::lastError()).c_str());
    return facts;
}

void File::requireUnchanged() const {
    const os::FileFacts now = examine(Status::FileReadFailed);
    const char* what = nullptr;
    if (now.identity != opened_.identity)
        what = "it is another file now";
    else if (now.bytes != opened_.bytes)
        what = "its size is different";
    else if (now.modified != opened_.modified)
        what = "it was modified";
    // Adding or removing links also changes this time, but not the bytes.
    else if (now.links == opened_.links && now.changed != opened_.changed)
        what = "its state was modified";
    if (what) fail(Status::FileChanged, "'%s' changed since it was loaded: %s", path_.c_str(), what);
}

void File::read(size_t offset, void* out, size_t bytes) const {
    size_t done = 0;
    while (done < bytes) {
        const int64_t got = file_.read(offset + done, static_cast<char*>(out) + done, bytes - done);
        if (got < 0)
            fail(Status::FileReadFailed, "cannot read '%s': %s", path_.c_str(), os::errorText(os::lastError()).c_str());
        if (got == 0) {
            requireUnchanged();
            fail(Status::FileReadFailed, "cannot read '%s': it ended after %zu of %zu bytes", path_.c_str(),
                 offset + done, size());
        }
        done += static_cast<size_t>(got);
    }
}

}  // namespace mnnc
