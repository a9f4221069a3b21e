// Runs the command in a child process and counts the validation layer's messages on its stderr.
#include "validation_layer.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/os/terminal.h"
#include "errors.h"
#include "text.h"

namespace tool {
namespace {

// The library begins each message of the layer with this.
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

}  // namespace

void runValidated() {
    MessageCounter counter;
    const mnnc::os::ChildRun run =
        mnnc::os::continueInChild({{"MNN_C_VULKAN_VALIDATION", "1"},
                                   {"VK_LAYER_ENABLES",
                                    "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT:"
                                    "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT"}},
                                  [&](const char* text, size_t bytes) {
                                      std::fwrite(text, 1, bytes, stderr);
                                      counter.take(text, bytes);
                                  });
    if (!run.failure.empty()) throw ToolError(fmt::format("--validate: {}", run.failure));
    if (run.isChild) return;
    counter.endLine();
    int code = run.exitCode;
    if (run.signal) text::print(stderr, "mnn: ended by signal {}\n", run.signal);
    if (counter.count() > 0) {
        text::print(stderr, "mnn: the Vulkan validation layer reported {} message{}, see above\n", counter.count(),
                    counter.count() == 1 ? "" : "s");
        if (code == 0) code = 1;
    }
    std::exit(code);
}

}  // namespace tool
