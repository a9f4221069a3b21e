// The structure of a model file: its tables, and which bytes are contents of large arrays of weights.
#pragma once
#include <cstddef>
#include <cstdint>

#include "model/bytes.h"

namespace mnnc {

// Size of the beginning that is fetched even of an array that stays in the file: the head of a compressed stream.
constexpr size_t kFetchedHead = 512;

// The limit on the depth of tables inside of tables.
constexpr int kMaxTableDepth = 64;

enum class Structure {
    Sound,
    Cut,            // data lies beyond the end of the bytes, but the rest has no fault
    Malformed,      // an offset that no file has, or tables that are nested too deep
    SharesTooMuch,  // tables share so many arrays and strings that they amount to several times the bytes of the file
};

// Visits everything that a Net's tables reach, in bytes that need not have been verified.
Structure walkStructure(const uint8_t* data, size_t size);

// The same, and fetches everything except the contents of large arrays that are read only through model/weights.h and
// model/const_data.h. When the structure is not sound, the fetched bytes are meaningless.
Structure fetchStructure(ModelBytes& bytes);

}  // namespace mnnc
