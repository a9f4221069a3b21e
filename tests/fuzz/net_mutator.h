// Mutations of inputs that hold a net: operators, their tables and the weight file change, and the net mostly stays one
// that loads.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fuzz {

// Keeps an input that a session ran. Half of the later mutations start from such inputs and change little, since a load
// refuses most files of a corpus.
void keepNet(const uint8_t* data, size_t size);

// The same interface as LLVMFuzzerCustomMutator and LLVMFuzzerCustomCrossOver.
size_t mutateNet(uint8_t* data, size_t size, size_t maxSize, unsigned seed);
size_t crossNets(const uint8_t* first, size_t firstSize, const uint8_t* second, size_t secondSize, uint8_t* out,
                 size_t maxSize, unsigned seed);

}  // namespace fuzz
