// The types of the wire format at run time. They are only in the plain header, which has the same include guard as the
// object API's.
#pragma once
#include <flatbuffers/flatbuffers.h>

namespace fuzz {

const flatbuffers::TypeTable* netTypes();
const flatbuffers::TypeTable* dataTypes();
const flatbuffers::TypeTable* parameterTypes();

}  // namespace fuzz
