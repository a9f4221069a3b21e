// Replaces a file of Windows: a temporary file in the same folder gets the bytes, then the name. The new file has the
// rights that its folder gives to files.
#include "base/os/replace_file.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/os/api_windows.h"
#include "base/os/files.h"

namespace mnnc::os {

namespace {

struct Refusal {
    Replaced result;
    std::string why;
};

[[noreturn]] void refuse(Replaced result, const std::string& path, const std::string& why) {
    throw Refusal{result, "cannot write '" + path + "': " + why};
}

// Returns the path of the regular file to replace; for a symbolic link, that of its target.
std::string targetOf(const std::string& path) {
    if (path.empty()) refuse(Replaced::NotOpened, path, "its name is empty");
    const DWORD attributes = GetFileAttributesW(WidePath(path.c_str()).get());
    if (attributes == INVALID_FILE_ATTRIBUTES) return path;
    if (attributes & FILE_ATTRIBUTE_DIRECTORY)
        refuse(Replaced::NotOpened, path, "it is a directory, and only a regular file is replaced");
    if (!(attributes & FILE_ATTRIBUTE_REPARSE_POINT)) {
        const OwnHandle file(CreateFileW(WidePath(path.c_str()).get(), 0,
                                         FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                                         0, nullptr));
        if (file.get() != INVALID_HANDLE_VALUE && GetFileType(file.get()) != FILE_TYPE_DISK)
            refuse(Replaced::NotOpened, path, "it is a device, and only a regular file is replaced");
        return path;
    }
    const OwnHandle file(CreateFileW(WidePath(path.c_str()).get(), 0,
                                     FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING, 0,
                                     nullptr));
    if (file.get() == INVALID_HANDLE_VALUE) refuse(Replaced::NotOpened, path, errorText(lastError()));
    std::array<wchar_t, 4096> target{};
    const DWORD units = GetFinalPathNameByHandleW(file.get(), target.data(), static_cast<DWORD>(target.size()), 0);
    if (units == 0 || units >= target.size()) refuse(Replaced::NotOpened, path, errorText(lastError()));
    return utf8Of(target.data());
}

// A temporary file beside the target: it either replaces the target completely or is deleted.
class Replacement {
  public:
    explicit Replacement(const std::string& path) : path_(path), target_(targetOf(path)) {
        constexpr int kTries = 100;
        for (int i = 0; i < kTries; ++i) {
            const auto number = static_cast<unsigned>(fileClock() / 100 ^ int64_t{GetCurrentProcessId()} << 12 ^ i);
            std::array<char, 16> ending{};
            std::snprintf(ending.data(), ending.size(), ".%06x", number % (1U << 24U));
            temporary_ = target_ + ending.data();
            file_ = CreateFileW(WidePath(temporary_.c_str()).get(), GENERIC_WRITE, FILE_SHARE_DELETE, nullptr,
                                CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
            if (file_ != INVALID_HANDLE_VALUE) return;
            if (GetLastError() != ERROR_FILE_EXISTS) break;
        }
        throw Refusal{Replaced::NotOpened, "cannot create a file beside '" + path + "': " + errorText(lastError())};
    }
    ~Replacement() {
        close();
        if (!done_) DeleteFileW(WidePath(temporary_.c_str()).get());
    }
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;

    void write(const uint8_t* data, size_t bytes) {
        constexpr size_t kAtOnce = size_t{16} << 20;
        for (size_t done = 0; done < bytes;) {
            DWORD put = 0;
            require(WriteFile(file_, data + done, static_cast<DWORD>(std::min(kAtOnce, bytes - done)), &put, nullptr) &&
                    put > 0);
            done += put;
        }
    }
    // The bytes are on the disk before the file is renamed: a crash in between leaves the old file.
    void commit() {
        require(FlushFileBuffers(file_));
        require(close());
        require(MoveFileExW(WidePath(temporary_.c_str()).get(), WidePath(target_.c_str()).get(),
                            MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH));
        done_ = true;
    }

  private:
    bool close() noexcept {
        const HANDLE file = file_;
        file_ = INVALID_HANDLE_VALUE;
        return file == INVALID_HANDLE_VALUE || CloseHandle(file);
    }
    void require(bool good) const {
        if (!good) refuse(Replaced::NotWritten, path_, errorText(lastError()));
    }

    const std::string path_, target_;
    std::string temporary_;
    HANDLE file_ = INVALID_HANDLE_VALUE;
    bool done_ = false;
};

}  // namespace

Replaced replaceFile(const std::string& path, const uint8_t* data, size_t bytes, std::string& why) {
    try {
        Replacement file(path);
        file.write(data, bytes);
        file.commit();
        return Replaced::Completely;
    } catch (Refusal& refusal) {
        why = std::move(refusal.why);
        return refusal.result;
    }
}

}  // namespace mnnc::os
