// The interface of Windows, whose functions take paths as UTF-16.
#pragma once
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

namespace mnnc::os {

// Converts a UTF-8 path to UTF-16. An invalid path, or one for which there is no memory, becomes an empty one, which
// no file has.
class WidePath {
  public:
    explicit WidePath(const char* path) noexcept {
        const int units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, nullptr, 0);
        if (units <= 0) return;
        text_.reset(new (std::nothrow) wchar_t[static_cast<size_t>(units)]);
        if (text_) MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, text_.get(), units);
    }
    const wchar_t* get() const noexcept { return text_ ? text_.get() : L""; }

  private:
    std::unique_ptr<wchar_t[]> text_;
};

inline std::string utf8Of(const wchar_t* text) {
    const int bytes = WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
    if (bytes <= 1) return {};
    std::string result(static_cast<size_t>(bytes), '\0');
    WideCharToMultiByte(CP_UTF8, 0, text, -1, result.data(), bytes, nullptr, nullptr);
    result.pop_back();  // the zero at the end
    return result;
}

struct HandleCloser {
    void operator()(HANDLE handle) const noexcept {
        if (handle != INVALID_HANDLE_VALUE) CloseHandle(handle);
    }
};
// Is null or INVALID_HANDLE_VALUE, depending on the function, where the handle could not be made.
using OwnHandle = std::unique_ptr<void, HandleCloser>;

constexpr uint64_t joined(DWORD high, DWORD low) noexcept {
    return uint64_t{high} << 32 | low;
}

// Windows counts time in units of 100 nanoseconds since 1601.
constexpr int64_t nanosecondsOf(uint64_t time) noexcept {
    constexpr uint64_t kUnixEpoch = 116'444'736'000'000'000;  // the time at the beginning of 1970
    return static_cast<int64_t>((time - kUnixEpoch) * 100);   // wraps for a time of 0, because times are only compared
}
constexpr int64_t nanosecondsOf(const FILETIME& time) noexcept {
    return nanosecondsOf(joined(time.dwHighDateTime, time.dwLowDateTime));
}

}  // namespace mnnc::os
