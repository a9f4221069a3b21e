// Marks a backend's cache with the model that it belongs to: the cache of another model or configuration holds other
// pipelines, and accepting it would prevent this model's pipelines from being saved.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/backend.h"

namespace mnnc {

class Model;

// Returns the key of the model and of the settings that decide which pipelines exist.
uint64_t modelCacheKey(const Model& model, const BackendConfig& config);

// Returns the backend's bytes with the key in front of them; empty when there are none.
std::vector<uint8_t> cacheForModel(const std::vector<uint8_t>& bytes, uint64_t key);

// Verdict on the cache that a session was offered.
enum class CacheVerdict {
    None,  // none was offered, or the session has no use for one
    Accepted,
    Damaged,       // damaged, or no cache at all
    AnotherModel,  // for another model or another configuration
    AnotherDevice  // made on another device, or by another driver or version of the library
};

struct OfferedCache {
    CacheVerdict verdict = CacheVerdict::None;
    std::vector<uint8_t> bytes;  // the backend's part, when model and configuration match
};
OfferedCache cacheOfModel(const std::vector<uint8_t>& marked, uint64_t key);

}  // namespace mnnc
