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

// What became of a cache that a session was offered.
enum class CacheVerdict {
    None,  // none was offered, or the session has no use for one
    Accepted,
    Damaged,       // or no cache at all
    AnotherModel,  // or another configuration
    AnotherDevice  // or another driver or library
};

struct OfferedCache {
    CacheVerdict verdict = CacheVerdict::None;
    std::vector<uint8_t> bytes;  // the backend's, when they are accepted as far as the model goes
};
OfferedCache cacheOfModel(const std::vector<uint8_t>& marked, uint64_t key);

}  // namespace mnnc
