// The types of the wire format at run time. They are in the plain header alone, whose include guard is that of the
// object API's.
#pragma once
#include <flatbuffers/flatbuffers.h>

namespace fuzz {

const flatbuffers::TypeTable* netTypes();
const flatbuffers::TypeTable* dataTypes();
const flatbuffers::TypeTable* parameterTypes();

}  // namespace fuzz
