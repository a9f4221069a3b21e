// Files of Windows. They are opened so that others may write, rename and remove them meanwhile, as on other systems.
#include "base/os/files.h"

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "base/os/api_windows.h"

namespace mnnc::os {

namespace {

constexpr size_t kReadAtOnce = size_t{16} << 20;
constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

HANDLE handleOf(intptr_t number) noexcept {
    return reinterpret_cast<HANDLE>(number);
}

}  // namespace

int lastError() noexcept {
    return static_cast<int>(GetLastError());
}

std::string errorText(int error) {
    wchar_t text[512] = L"";
    const DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK;
    FormatMessageW(flags, nullptr, static_cast<DWORD>(error), 0, text, static_cast<DWORD>(std::size(text)), nullptr);
    std::string sentence = utf8Of(text);
    while (!sentence.empty() && std::strchr(" .\r\n", sentence.back())) sentence.pop_back();
    return sentence.empty() ? "error " + std::to_string(error) + " of Windows" : sentence;
}

bool saysMissing(int error) noexcept {
    return error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND || error == ERROR_INVALID_NAME ||
           error == ERROR_BAD_PATHNAME || error == ERROR_BAD_NETPATH;
}

bool saysNoMemory(int error) noexcept {
    return error == ERROR_NOT_ENOUGH_MEMORY || error == ERROR_OUTOFMEMORY || error == ERROR_COMMITMENT_LIMIT;
}

InputFile::~InputFile() {
    if (handle_ != -1) CloseHandle(handleOf(handle_));
}

// FILE_FLAG_BACKUP_SEMANTICS opens folders, too; facts() recognises them.
bool InputFile::open(const char* path) noexcept {
    const HANDLE handle = CreateFileW(WidePath(path).get(), GENERIC_READ, kShareAll, nullptr, OPEN_EXISTING,
                                      FILE_FLAG_BACKUP_SEMANTICS, nullptr);
    handle_ = reinterpret_cast<intptr_t>(handle);
    return handle != INVALID_HANDLE_VALUE;
}

bool InputFile::facts(FileFacts& facts) const noexcept {
    const HANDLE handle = handleOf(handle_);
    if (GetFileType(handle) != FILE_TYPE_DISK) {
        facts = {};
        return true;
    }
    BY_HANDLE_FILE_INFORMATION info{};
    FILE_BASIC_INFO times{};
    if (!GetFileInformationByHandle(handle, &info) ||
        !GetFileInformationByHandleEx(handle, FileBasicInfo, &times, sizeof times))
        return false;
    facts.kind = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? FileFacts::Kind::Folder : FileFacts::Kind::Regular;
    facts.bytes = static_cast<int64_t>(joined(info.nFileSizeHigh, info.nFileSizeLow));
    facts.identity = {info.dwVolumeSerialNumber, joined(info.nFileIndexHigh, info.nFileIndexLow)};
    facts.links = info.nNumberOfLinks;
    facts.modified = nanosecondsOf(info.ftLastWriteTime);
    facts.changed = nanosecondsOf(static_cast<uint64_t>(times.ChangeTime.QuadPart));
    return true;
}

int64_t InputFile::read(uint64_t offset, void* out, size_t bytes) const noexcept {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset);
    place.OffsetHigh = static_cast<DWORD>(offset >> 32);
    DWORD got = 0;
    if (ReadFile(handleOf(handle_), out, static_cast<DWORD>(std::min(kReadAtOnce, bytes)), &got, &place)) return got;
    return GetLastError() == ERROR_HANDLE_EOF ? 0 : -1;
}

void* InputFile::map(size_t bytes) const noexcept {
    const OwnHandle mapping(CreateFileMappingW(handleOf(handle_), nullptr, PAGE_READONLY, 0, 0, nullptr));
    return mapping ? MapViewOfFile(mapping.get(), FILE_MAP_READ, 0, 0, bytes) : nullptr;
}

void unmapFile(void* mapping, size_t) noexcept {
    if (mapping) UnmapViewOfFile(mapping);
}

// Unlocking pages that are not locked removes them from the working set.
void dropPages(void* begin, size_t bytes) noexcept {
    VirtualUnlock(begin, bytes);
}

int64_t fileClock() noexcept {
    FILETIME now{};
    GetSystemTimeAsFileTime(&now);
    return nanosecondsOf(now);
}

std::FILE* openStream(const char* path, const char* mode) noexcept {
    const bool writes = mode[0] == 'w';
    const int flags = (writes ? _O_WRONLY | _O_CREAT | _O_TRUNC : _O_RDONLY) | _O_NOINHERIT |
                      (std::strchr(mode, 'b') ? _O_BINARY : _O_TEXT);
    const int file = _wopen(WidePath(path).get(), flags, _S_IREAD | _S_IWRITE);
    if (file < 0) return nullptr;
    std::FILE* const stream = _fdopen(file, mode);
    if (!stream) _close(file);
    return stream;
}

bool renameFile(const char* from, const char* to) noexcept {
    return MoveFileExW(WidePath(from).get(), WidePath(to).get(), MOVEFILE_REPLACE_EXISTING);
}

bool removeFile(const char* path) noexcept {
    return DeleteFileW(WidePath(path).get());
}

bool findFile(const char* path, FoundFile& found) noexcept {
    const OwnHandle file(
        CreateFileW(WidePath(path).get(), 0, kShareAll, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
    BY_HANDLE_FILE_INFORMATION info{};
    if (file.get() == INVALID_HANDLE_VALUE || !GetFileInformationByHandle(file.get(), &info)) return false;
    found = {};
    found.isFolder = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
    found.contents = {info.dwVolumeSerialNumber, joined(info.nFileIndexHigh, info.nFileIndexLow),
                      joined(info.nFileSizeHigh, info.nFileSizeLow),
                      static_cast<uint64_t>(nanosecondsOf(info.ftLastWriteTime)),
                      static_cast<uint64_t>(nanosecondsOf(info.ftCreationTime))};
    found.permissions[0] = info.dwFileAttributes;
    return true;
}

bool listFolder(const char* path, const std::function<void(const char* name, const FoundFile*)>& entry) {
    struct SearchCloser {
        void operator()(HANDLE search) const noexcept {
            if (search != INVALID_HANDLE_VALUE) FindClose(search);
        }
    };
    WIN32_FIND_DATAW one{};
    const std::string all = std::string(path) + "\\*";
    const std::unique_ptr<void, SearchCloser> search(FindFirstFileW(WidePath(all.c_str()).get(), &one));
    if (search.get() == INVALID_HANDLE_VALUE) return false;
    do {
        const std::string name = utf8Of(one.cFileName);
        if (name == "." || name == "..") continue;
        FoundFile found;
        found.isFolder = one.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
        found.contents = {0, 0, joined(one.nFileSizeHigh, one.nFileSizeLow),
                          static_cast<uint64_t>(nanosecondsOf(one.ftLastWriteTime)),
                          static_cast<uint64_t>(nanosecondsOf(one.ftCreationTime))};
        found.permissions[0] = one.dwFileAttributes;
        entry(name.c_str(), &found);
    } while (FindNextFileW(search.get(), &one));
    return GetLastError() == ERROR_NO_MORE_FILES;
}

}  // namespace mnnc::os
