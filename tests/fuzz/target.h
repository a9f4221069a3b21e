// The part of libFuzzer's interface that every target uses; replay_main.cpp replaces libFuzzer where clang is missing.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t maxSize);
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize, unsigned seed);
}
