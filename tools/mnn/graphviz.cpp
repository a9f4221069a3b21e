// Runs Graphviz's program dot, without a shell. Input and output are temporary files, so that neither process waits for
// the other.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "dot.h"

extern char** environ;

namespace tool {
namespace {

constexpr std::chrono::seconds kLongestWait{300};

struct CloseTemporary {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseTemporary>;

File temporaryFile() {
    File file(std::tmpfile());
    if (!file) throw ToolError(fmt::format("cannot make a temporary file: {}", std::strerror(errno)));
    return file;
}

std::string contentOf(std::FILE* file) {
    std::string content;
    char part[65536];
    std::rewind(file);
    while (const size_t count = std::fread(part, 1, sizeof part, file)) content.append(part, count);
    return content;
}

// Returns the status of the process, as waitpid() reports it.
int waitFor(pid_t child) {
    const auto end = std::chrono::steady_clock::now() + kLongestWait;
    for (int status = 0;;) {
        const pid_t done = waitpid(child, &status, WNOHANG);
        if (done == child) return status;
        if (done < 0 && errno != EINTR) throw ToolError(fmt::format("cannot wait for 'dot': {}", std::strerror(errno)));
        if (std::chrono::steady_clock::now() > end) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            throw ToolError(fmt::format("'dot' did not finish in {} seconds; an .html page has no such limit",
                                        static_cast<long long>(kLongestWait.count())));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace

std::string drawnByDot(const std::string& dot) {
    const File input = temporaryFile(), output = temporaryFile(), errors = temporaryFile();
    if (std::fwrite(dot.data(), 1, dot.size(), input.get()) != dot.size() || std::fflush(input.get()) != 0)
        throw ToolError(fmt::format("cannot write a temporary file: {}", std::strerror(errno)));
    std::rewind(input.get());
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(input.get()), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(output.get()), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(errors.get()), STDERR_FILENO);
    char program[] = "dot", format[] = "-Tsvg";
    char* const arguments[] = {program, format, nullptr};
    pid_t child = 0;
    const int failure = posix_spawnp(&child, program, &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure == ENOENT)
        throw ToolError(
            "an .svg needs the program 'dot' of Graphviz, which is not installed (Debian's package is "
            "graphviz); .html and .dot need no other program");
    if (failure != 0) throw ToolError(fmt::format("cannot run 'dot': {}", std::strerror(failure)));
    const int status = waitFor(child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw ToolError(fmt::format("'dot' failed: {}", contentOf(errors.get())));
    return contentOf(output.get());
}

}  // namespace tool
