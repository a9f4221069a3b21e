// How a command wants its operands stored.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mnnc {

// The producer of an operand chooses its storage; a conversion comes where a consumer wants something else.
struct StorageChoice {
    int inputBlock = 1;           // of every input not in rowMajorInputs
    int outputBlock = 1;          // of every output
    uint32_t rowMajorInputs = 0;  // bit i: input i is wanted (or accepted) row-major, in spite of inputBlock

    bool wantsRowMajor(size_t input) const noexcept { return input < 32 && ((rowMajorInputs >> input) & 1u); }
    int blockOf(size_t input) const noexcept { return wantsRowMajor(input) ? 1 : inputBlock; }
};

}  // namespace mnnc
