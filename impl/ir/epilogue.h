// The part of a command that changes its results before they are stored.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

namespace mnnc {

enum class Act : uint8_t { None, HardSwish, Silu, Gelu /* erf */, Sigmoid, HardSigmoid /* x/6+1/2 */, Tanh, GeluTanh };

// min(max(act(result + residual), lo), hi)
struct Epilogue {
    Act act = Act::None;
    float lo = -std::numeric_limits<float>::infinity();
    float hi = std::numeric_limits<float>::infinity();
    bool residual = false;  // the command's last input, with the output's shape or with its elements in the same order

    bool clips() const noexcept {
        return lo > -std::numeric_limits<float>::infinity() || hi < std::numeric_limits<float>::infinity();
    }
    bool any() const noexcept { return act != Act::None || clips() || residual; }
};

// Returns a text for reports: "", or for example " +add +silu".
std::string epilogueText(const Epilogue& epilogue);

}  // namespace mnnc
