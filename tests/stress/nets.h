// Nets with the inputs that threads write, and the outputs for them.
#pragma once
#include <mnn_c.h>

#include <array>
#include <atomic>
#include <string>
#include <vector>

namespace stress {

constexpr int kPatterns = 4;  // of inputs; pattern 0 is zeros, the state after a resize

// A net with one input of floats, the patterns and the outputs for them.
struct Net {
    std::string path;
    std::atomic<mnn_interpreter_t*> handle{nullptr};
    size_t inputBytes = 0, outputBytes = 0;
    std::array<std::vector<unsigned char>, kPatterns> inputs, outputs;
};

// Loads the net of net.path and computes the outputs for the patterns. Returns whether that succeeded; if not, prints
// why.
bool prepare(Net& net);

// Describes how an output differs from those of each pattern.
std::string differences(const Net& net, const std::vector<unsigned char>& got);

}  // namespace stress
