// Helpers for the generated accessors: absent vectors and strings read as empty.
#pragma once
#include <cstdint>
#include <string>

#include "base/op_type.h"
#include "mnn_generated.h"
#include "model/stored_bytes.h"

namespace mnnc {

template <typename T>
int64_t vectorSize(const flatbuffers::Vector<T>* vector) {
    return vector ? static_cast<int64_t>(vector->size()) : 0;
}

inline OpType opTypeOf(const wire::Op& op) {
    return static_cast<OpType>(op.type());
}

inline const char* textOr(const flatbuffers::String* text, const char* fallback = "") {
    return text ? text->c_str() : fallback;
}

inline std::string copyText(const flatbuffers::String* text) {
    return text ? text->str() : std::string();
}

// Locates the elements of an array of `model`; model null: the table is in memory.
template <typename T>
StoredBytes bytesOf(const flatbuffers::Vector<T>* vector, const ModelBytes* model) {
    if (vectorSize(vector) == 0) return {};
    const size_t bytes = size_t{vector->size()} * sizeof(T);
    if (!model) return StoredBytes({vector->Data(), bytes});
    return {*model, static_cast<size_t>(vector->Data() - model->data()), bytes};
}

}  // namespace mnnc
