// The targets without their own mutator take arbitrary bytes.
#include "target.h"

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize, unsigned) {
    return LLVMFuzzerMutate(data, size, maxSize);
}
