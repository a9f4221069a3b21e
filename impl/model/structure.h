// Which bytes of a model file are structure and which are contents of large arrays of weights.
#pragma once
#include <cstddef>

#include "model/bytes.h"

namespace mnnc {

// Of an array that stays in the file, this much of its beginning is fetched, too: the head of a compressed stream.
constexpr size_t kFetchedHead = 512;

// Fetches everything that a Net's tables reach but the contents of large arrays that are read through model/weights.h
// and model/const_data.h alone. False where it does not look like a model: what has been fetched then says nothing.
bool fetchStructure(ModelBytes& bytes);

}  // namespace mnnc
