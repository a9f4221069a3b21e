// Nets with the inputs that threads write, and what they give.
#pragma once
#include <mnn_c.h>

#include <array>
#include <atomic>
#include <string>
#include <vector>

namespace stress {

constexpr int kPatterns = 4;  // of inputs; pattern 0 is zeros, which a resize leaves

// A net with one input of floats, what the patterns are and what they give.
struct Net {
    std::string path;
    std::atomic<mnn_interpreter_t*> handle{nullptr};
    size_t inputBytes = 0, outputBytes = 0;
    std::array<std::vector<unsigned char>, kPatterns> inputs, outputs;
};

// Loads the net of net.path and finds what the patterns give. Returns whether that went well; if not, prints why.
bool prepare(Net& net);

// How an output differs from what each pattern gives.
std::string differences(const Net& net, const std::vector<unsigned char>& got);

}  // namespace stress
