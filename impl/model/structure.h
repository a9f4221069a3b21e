// The structure of a model file: its tables, and which bytes are contents of large arrays of weights.
#pragma once
#include <cstddef>
#include <cstdint>

#include "model/bytes.h"

namespace mnnc {

// Of an array that stays in the file, this much of its beginning is fetched, too: the head of a compressed stream.
constexpr size_t kFetchedHead = 512;

enum class Structure {
    Sound,
    Cut,            // something lies beyond the end of the bytes, and nothing else is wrong with what is there
    Malformed,      // an offset that no file has, or tables that are nested too deep
    SharesTooMuch,  // tables share so many arrays and strings that they mean several times the bytes of the file
};

// Goes over everything that a Net's tables reach, in bytes that need not have been verified.
Structure walkStructure(const uint8_t* data, size_t size);

// The same, and fetches it all but the contents of large arrays that are read through model/weights.h and
// model/const_data.h alone. When it is not sound, what has been fetched says nothing.
Structure fetchStructure(ModelBytes& bytes);

}  // namespace mnnc
