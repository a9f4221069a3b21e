// What every target uses of libFuzzer's interface; replay_main.cpp takes libFuzzer's place where clang is missing.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t maxSize);
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize, unsigned seed);
}
