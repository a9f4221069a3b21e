// The targets that take nets change them table by table.
#include "net_mutator.h"
#include "target.h"

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize, unsigned seed) {
    return fuzz::mutateNet(data, size, maxSize, seed);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t firstSize, const uint8_t* second,
                                            size_t secondSize, uint8_t* out, size_t maxSize, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t firstSize, const uint8_t* second, size_t secondSize,
                                 uint8_t* out, size_t maxSize, unsigned seed) {
    return fuzz::crossNets(first, firstSize, second, secondSize, out, maxSize, seed);
}
