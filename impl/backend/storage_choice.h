// The storage that a command wants for its operands.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mnnc {

// The producer of an operand chooses its storage; a conversion is inserted where a consumer wants another one.
struct StorageChoice {
    int inputBlock = 1;           // for every input that is not in rowMajorInputs
    int outputBlock = 1;          // for every output
    uint32_t rowMajorInputs = 0;  // bit i: input i is wanted (or accepted) row-major, regardless of inputBlock

    bool wantsRowMajor(size_t input) const noexcept { return input < 32 && ((rowMajorInputs >> input) & 1u); }
    int blockOf(size_t input) const noexcept { return wantsRowMajor(input) ? 1 : inputBlock; }
};

}  // namespace mnnc
