// The console and other programs of Windows.
#include "base/os/terminal.h"

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cstring>

#include "base/os/api_windows.h"
#include "base/os/files.h"
// shellapi.h needs the names of windows.h.
#include <shellapi.h>

namespace mnnc::os {

namespace {

const char* interruptedText = "";

BOOL WINAPI writeAndEnd(DWORD) {
    DWORD written = 0;
    WriteFile(GetStdHandle(STD_ERROR_HANDLE), interruptedText, static_cast<DWORD>(std::strlen(interruptedText)),
              &written, nullptr);
    return FALSE;  // the handler of the system ends the process
}

SECURITY_ATTRIBUTES inheritable() noexcept {
    SECURITY_ATTRIBUTES attributes{};
    attributes.nLength = sizeof attributes;
    attributes.bInheritHandle = TRUE;
    return attributes;
}

// A file that is deleted when it is closed, and that a program may inherit.
HANDLE temporaryFile() noexcept {
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
    if (!GetTempPathW(MAX_PATH, folder) || !GetTempFileNameW(folder, L"mnn", 0, path)) return INVALID_HANDLE_VALUE;
    SECURITY_ATTRIBUTES attributes = inheritable();
    return CreateFileW(path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                       &attributes, CREATE_ALWAYS, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
}

std::string contentOf(HANDLE file) {
    std::string content;
    char part[65536];
    DWORD got = 0;
    SetFilePointer(file, 0, nullptr, FILE_BEGIN);
    while (ReadFile(file, part, sizeof part, &got, nullptr) && got > 0) content.append(part, got);
    return content;
}

// Joins the arguments into one line, which the C runtime of the program splits again.
std::wstring commandLine(const std::vector<std::string>& arguments) {
    std::wstring line;
    for (const std::string& argument : arguments) {
        if (!line.empty()) line += L' ';
        line += L'"';
        size_t slashes = 0;
        const WidePath wide(argument.c_str());
        for (const wchar_t* c = wide.get(); *c; ++c) {
            if (*c == L'"') line.append(slashes + 1, L'\\');
            slashes = *c == L'\\' ? slashes + 1 : 0;
            line += *c;
        }
        line.append(slashes, L'\\');
        line += L'"';
    }
    return line;
}

}  // namespace

std::vector<std::string> utf8Arguments(int count, char** arguments) {
    int found = 0;
    wchar_t** const wide = CommandLineToArgvW(GetCommandLineW(), &found);
    if (!wide) return {arguments, arguments + count};
    std::vector<std::string> result;
    for (int i = 0; i < found; ++i) result.push_back(utf8Of(wide[i]));
    LocalFree(wide);
    return result;
}

// A console interprets control sequences and UTF-8 only on request.
bool isTerminal(std::FILE* file) noexcept {
    DWORD mode = 0;
    const auto console = reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file)));
    if (!GetConsoleMode(console, &mode)) return false;
    SetConsoleOutputCP(CP_UTF8);
    return SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

int terminalColumns(std::FILE* file) noexcept {
    CONSOLE_SCREEN_BUFFER_INFO info{};
    const auto console = reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file)));
    return GetConsoleScreenBufferInfo(console, &info) ? info.srWindow.Right - info.srWindow.Left + 1 : 0;
}

void passBytes(std::FILE* file) noexcept {
    _setmode(_fileno(file), _O_BINARY);
}

void writeWhenInterrupted(const char* text) {
    static const bool set = SetConsoleCtrlHandler(writeAndEnd, TRUE);
    static_cast<void>(set);
    interruptedText = text;
}

std::vector<std::string> matchingPaths(const std::string& pattern) {
    std::vector<std::string> paths;
    WIN32_FIND_DATAW one{};
    const HANDLE search = FindFirstFileW(WidePath(pattern.c_str()).get(), &one);
    if (search == INVALID_HANDLE_VALUE) return paths;
    const size_t folder = pattern.find_last_of("/\\:");
    const std::string before = folder == std::string::npos ? "" : pattern.substr(0, folder + 1);
    do {
        const std::string name = utf8Of(one.cFileName);
        if (name != "." && name != "..") paths.push_back(before + name);
    } while (FindNextFileW(search, &one));
    FindClose(search);
    std::sort(paths.begin(), paths.end());
    return paths;
}

ProgramRun runProgram(const std::vector<std::string>& arguments, const std::string& input, int seconds) {
    ProgramRun run;
    wchar_t program[MAX_PATH + 1];
    if (!SearchPathW(nullptr, WidePath(arguments[0].c_str()).get(), L".exe", MAX_PATH, program, nullptr)) {
        run.end = ProgramRun::End::Missing;
        return run;
    }
    const OwnHandle in(temporaryFile()), out(temporaryFile()), errors(temporaryFile());
    DWORD written = 0;
    if (in.get() == INVALID_HANDLE_VALUE || out.get() == INVALID_HANDLE_VALUE || errors.get() == INVALID_HANDLE_VALUE ||
        !WriteFile(in.get(), input.data(), static_cast<DWORD>(input.size()), &written, nullptr)) {
        run.reason = "cannot write a temporary file: " + errorText(lastError());
        return run;
    }
    SetFilePointer(in.get(), 0, nullptr, FILE_BEGIN);
    STARTUPINFOW start{};
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = in.get();
    start.hStdOutput = out.get();
    start.hStdError = errors.get();
    PROCESS_INFORMATION made{};
    std::wstring line = commandLine(arguments);
    if (!CreateProcessW(program, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start, &made)) {
        run.reason = "cannot run it: " + errorText(lastError());
        return run;
    }
    const OwnHandle process(made.hProcess), thread(made.hThread);
    if (WaitForSingleObject(process.get(), static_cast<DWORD>(seconds) * 1000) != WAIT_OBJECT_0) {
        TerminateProcess(process.get(), 1);
        WaitForSingleObject(process.get(), INFINITE);
        run.end = ProgramRun::End::TooLong;
        return run;
    }
    DWORD code = 1;
    GetExitCodeProcess(process.get(), &code);
    run.end = ProgramRun::End::Exited;
    run.exitCode = static_cast<int>(code);
    run.output = contentOf(out.get());
    run.errors = contentOf(errors.get());
    return run;
}

// Windows has no fork(): the program starts again with the same arguments, and a variable says that it is the child.
ChildRun continueInChild(const std::vector<std::pair<const char*, const char*>>& variables,
                         const std::function<void(const char* text, size_t bytes)>& errors) {
    constexpr const wchar_t* kMark = L"MNN_TOOL_IS_CHILD";
    ChildRun run;
    if (GetEnvironmentVariableW(kMark, nullptr, 0) > 0) {
        run.isChild = true;
        return run;
    }
    SECURITY_ATTRIBUTES attributes = inheritable();
    HANDLE from = nullptr, to = nullptr;
    if (!CreatePipe(&from, &to, &attributes, 0)) {
        run.failure = "cannot create a pipe: " + errorText(lastError());
        return run;
    }
    const OwnHandle reading(from);
    OwnHandle writing(to);
    SetHandleInformation(from, HANDLE_FLAG_INHERIT, 0);
    std::fflush(nullptr);
    for (const auto& [name, value] : variables) SetEnvironmentVariableW(WidePath(name).get(), WidePath(value).get());
    SetEnvironmentVariableW(kMark, L"1");
    wchar_t program[4096];
    GetModuleFileNameW(nullptr, program, static_cast<DWORD>(std::size(program)));
    std::wstring line = GetCommandLineW();
    STARTUPINFOW start{};
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    start.hStdError = to;
    PROCESS_INFORMATION made{};
    if (!CreateProcessW(program, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start, &made)) {
        run.failure = "cannot create a process: " + errorText(lastError());
        return run;
    }
    const OwnHandle process(made.hProcess), thread(made.hThread);
    writing.reset();
    char text[4096];
    DWORD got = 0;
    while (ReadFile(reading.get(), text, sizeof text, &got, nullptr) && got > 0) errors(text, got);
    WaitForSingleObject(process.get(), INFINITE);
    DWORD code = 1;
    GetExitCodeProcess(process.get(), &code);
    run.exitCode = static_cast<int>(code);
    return run;
}

}  // namespace mnnc::os
