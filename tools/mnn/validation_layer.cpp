// Runs the command in a child process and counts the validation layer's messages on its stderr.
#include "validation_layer.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "errors.h"
#include "text.h"

namespace tool {
namespace {

// The library writes it before each message of the layer.
constexpr char kMark[] = "vulkan validation:";

class MessageCounter {
  public:
    void take(const char* text, size_t bytes) {
        for (size_t i = 0; i < bytes; i++) {
            if (text[i] == '\n') {
                endLine();
            } else if (line_.size() < sizeof kMark - 1) {
                line_ += text[i];
            }
        }
    }
    void endLine() {
        count_ += line_ == kMark;
        line_.clear();
    }
    size_t count() const { return count_; }

  private:
    std::string line_;  // the beginning of an unfinished line
    size_t count_ = 0;
};

[[noreturn]] void watch(pid_t child, int messages) {
    MessageCounter counter;
    char text[4096];
    for (;;) {
        const ssize_t bytes = read(messages, text, sizeof text);
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes <= 0) break;
        std::fwrite(text, 1, static_cast<size_t>(bytes), stderr);
        counter.take(text, static_cast<size_t>(bytes));
    }
    counter.endLine();
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (WIFSIGNALED(status)) text::print(stderr, "mnn: ended by signal {}\n", WTERMSIG(status));
    if (counter.count() > 0) {
        text::print(stderr, "mnn: the Vulkan validation layer had {} message{}, see above\n", counter.count(),
                    counter.count() == 1 ? "" : "s");
        if (code == 0) code = 1;
    }
    std::exit(code);
}

}  // namespace

void runValidated() {
    int ends[2];
    if (pipe(ends) != 0) throw ToolError(fmt::format("--validate: no pipe: {}", std::strerror(errno)));
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) throw ToolError(fmt::format("--validate: no process: {}", std::strerror(errno)));
    if (child > 0) {
        close(ends[1]);
        watch(child, ends[0]);
    }
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv("MNN_C_VULKAN_VALIDATION", "1", 1);
    setenv("VK_LAYER_ENABLES",
           "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT:"
           "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT",
           1);
}

}  // namespace tool
