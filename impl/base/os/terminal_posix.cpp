// The terminal and other programs by POSIX. Input and output of a program are temporary files, so that neither process
// waits for the other.
#include "base/os/terminal.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "base/os/files.h"

#ifdef __APPLE__
extern char** environ;  // other systems declare it in unistd.h
#endif

namespace mnnc::os {
namespace {

const char* interrupted = "";

extern "C" void writeAndEnd(int signal) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, interrupted, std::strlen(interrupted));
    ::raise(signal);  // the handler has already been removed, so this ends the process
}

struct CloseTemporary {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using TemporaryFile = std::unique_ptr<std::FILE, CloseTemporary>;

std::string contentOf(std::FILE* file) {
    std::string content;
    char part[65536];
    std::rewind(file);
    while (const size_t count = std::fread(part, 1, sizeof part, file)) content.append(part, count);
    return content;
}

// Waits for the process and records how it ended.
void awaitProgram(pid_t child, int seconds, ProgramRun& run) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    for (int status = 0;;) {
        const pid_t done = ::waitpid(child, &status, WNOHANG);
        if (done == child) {
            run.end = ProgramRun::End::Exited;
            run.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
            return;
        }
        if (done < 0 && errno != EINTR) {
            run.reason = "cannot wait for it: " + errorText(errno);
            return;
        }
        if (std::chrono::steady_clock::now() > end) {
            ::kill(child, SIGKILL);
            ::waitpid(child, &status, 0);
            run.end = ProgramRun::End::TooLong;
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace

std::vector<std::string> utf8Arguments(int count, char** arguments) {
    return {arguments, arguments + count};
}

bool isTerminal(std::FILE* file) noexcept {
    return ::isatty(::fileno(file)) == 1;
}

int terminalColumns(std::FILE* file) noexcept {
    winsize size{};
    return ::ioctl(::fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void passBytes(std::FILE*) noexcept {}

void writeWhenInterrupted(const char* text) {
    interrupted = text;
    static std::once_flag once;
    std::call_once(once, [] {
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
            struct sigaction action {};
            if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
            action.sa_handler = writeAndEnd;
            action.sa_flags = static_cast<int>(SA_RESETHAND);
            ::sigaction(signal, &action, nullptr);
        }
    });
}

std::vector<std::string> matchingPaths(const std::string& pattern) {
    glob_t found{};
    std::vector<std::string> paths;
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    return paths;
}

ProgramRun runProgram(const std::vector<std::string>& arguments, const std::string& input, int seconds) {
    ProgramRun run;
    const TemporaryFile in(std::tmpfile()), out(std::tmpfile()), errors(std::tmpfile());
    if (!in || !out || !errors) {
        run.reason = "cannot make a temporary file: " + errorText(errno);
        return run;
    }
    if (std::fwrite(input.data(), 1, input.size(), in.get()) != input.size() || std::fflush(in.get()) != 0) {
        run.reason = "cannot write a temporary file: " + errorText(errno);
        return run;
    }
    std::rewind(in.get());
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ::fileno(in.get()), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, ::fileno(out.get()), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, ::fileno(errors.get()), STDERR_FILENO);
    std::vector<std::string> copies = arguments;
    std::vector<char*> pointers;
    pointers.reserve(copies.size() + 1);
    for (std::string& argument : copies) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    pid_t child = 0;
    const int failure = ::posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) {
        run.end = failure == ENOENT ? ProgramRun::End::Missing : ProgramRun::End::Failed;
        run.reason = "cannot run it: " + errorText(failure);
        return run;
    }
    awaitProgram(child, seconds, run);
    run.output = contentOf(out.get());
    run.errors = contentOf(errors.get());
    return run;
}

ChildRun continueInChild(const std::vector<std::pair<const char*, const char*>>& variables,
                         const std::function<void(const char* text, size_t bytes)>& errors) {
    ChildRun run;
    int ends[2];
    if (::pipe(ends) != 0) {
        run.failure = "cannot create a pipe: " + errorText(errno);
        return run;
    }
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) {
        run.failure = "cannot create a process: " + errorText(errno);
        ::close(ends[0]);
        ::close(ends[1]);
        return run;
    }
    if (child == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        for (const auto& [name, value] : variables) ::setenv(name, value, 1);
        run.isChild = true;
        return run;
    }
    ::close(ends[1]);
    char text[4096];
    for (;;) {
        const ssize_t bytes = ::read(ends[0], text, sizeof text);
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes <= 0) break;
        errors(text, static_cast<size_t>(bytes));
    }
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) run.exitCode = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) run.signal = WTERMSIG(status);
    return run;
}

}  // namespace mnnc::os
