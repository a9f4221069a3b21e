// Constants of floats that are read in pieces.
#pragma once
#include <optional>

#include "model/external_file.h"

namespace mnnc {

namespace wire {
struct Blob;
}

// Returns the array of a Blob whose bytes in the file are row-major floats; std::nullopt for others. Throws what
// decodeBlob() throws.
std::optional<StoredBytes> plainFloats(const wire::Blob& blob, const WeightFiles& files, const char* opName);

}  // namespace mnnc
