// What a backend prepared for a model, marked as such: the cache of another model, or of another configuration, holds
// other pipelines and would keep them from being saved.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/backend.h"

namespace mnnc {

class Model;

// Of the model and of the settings that decide which pipelines there are.
uint64_t modelCacheKey(const Model& model, const BackendConfig& config);

// The backend's bytes with the key in front of them; nothing of nothing.
std::vector<uint8_t> cacheForModel(const std::vector<uint8_t>& bytes, uint64_t key);

// The backend's bytes; none when they are of another key.
std::vector<uint8_t> cacheOfModel(const std::vector<uint8_t>& marked, uint64_t key);

}  // namespace mnnc
