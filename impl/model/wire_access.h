// Small helpers around the generated accessors: absent vectors and strings read as empty.
#pragma once
#include <cstdint>
#include <string>

#include "mnn_generated.h"

namespace mnnc {

template <typename T>
int64_t vectorSize(const flatbuffers::Vector<T>* vector) {
    return vector ? static_cast<int64_t>(vector->size()) : 0;
}

inline const char* textOr(const flatbuffers::String* text, const char* fallback = "") {
    return text ? text->c_str() : fallback;
}

inline std::string copyText(const flatbuffers::String* text) {
    return text ? text->str() : std::string();
}

}  // namespace mnnc
