// The targets without a mutator of their own take bytes as they come.
#include "target.h"

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize, unsigned) {
    return LLVMFuzzerMutate(data, size, maxSize);
}
