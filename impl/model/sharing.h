// Tables of a file may share vectors and strings, so a small file can mean more than any memory holds.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mnnc {

enum class Sharing { Fits, TooMuch, Malformed };

// Adds up what a file's tables hold when each reference to an object counts. TooMuch: several times the file's size.
// Malformed: an offset leads out of the bytes, which need not have been verified.
Sharing checkSharing(const uint8_t* data, size_t size);

}  // namespace mnnc
