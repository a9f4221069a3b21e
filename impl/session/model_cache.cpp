// Puts the key of a model in front of a cache, and checks it.
#include "session/model_cache.h"

#include <cstring>

#include "base/fnv_hash.h"
#include "mnn_generated.h"
#include "model/model.h"

namespace mnnc {

namespace {

struct Mark {
    char magic[8] = {'M', 'N', 'N', 'C', 'M', 'O', 'D', '2'};  // the last character is the version
    uint64_t key = 0;
    uint64_t checksum = 0;  // over the key and the bytes that follow
};

Mark markOf(uint64_t key, const void* bytes, size_t count) {
    Mark mark;
    mark.key = key;
    FnvHash hash;
    hash.add(key);
    hash.addBytes(bytes, count);
    mark.checksum = hash.value();
    return mark;
}

}  // namespace

uint64_t modelCacheKey(const Model& model, const BackendConfig& config) {
    FnvHash hash;
    hash.add(model.uuid());
    hash.add(model.byteSize());
    for (const Graph& graph : model.graphs()) {
        for (const wire::Op* op : graph.ops) hash.add(static_cast<uint64_t>(op->type()));
        for (const std::string& name : graph.tensorNames) hash.add(name);
    }
    hash.add(static_cast<uint64_t>(config.precision));
    hash.add(static_cast<uint64_t>(config.memory));
    return hash.value();
}

std::vector<uint8_t> cacheForModel(const std::vector<uint8_t>& bytes, uint64_t key) {
    if (bytes.empty()) return {};
    const Mark mark = markOf(key, bytes.data(), bytes.size());
    std::vector<uint8_t> marked(sizeof mark + bytes.size());
    std::memcpy(marked.data(), &mark, sizeof mark);
    std::memcpy(marked.data() + sizeof mark, bytes.data(), bytes.size());
    return marked;
}

OfferedCache cacheOfModel(const std::vector<uint8_t>& marked, uint64_t key) {
    constexpr size_t kName = sizeof Mark::magic - 1;
    if (marked.empty()) return {};
    Mark mark;
    if (marked.size() <= sizeof mark || std::memcmp(marked.data(), mark.magic, kName) != 0)
        return {CacheVerdict::Damaged, {}};
    if (marked[kName] != static_cast<uint8_t>(mark.magic[kName])) return {CacheVerdict::AnotherDevice, {}};
    std::memcpy(&mark, marked.data(), sizeof mark);
    const uint8_t* bytes = marked.data() + sizeof mark;
    const size_t count = marked.size() - sizeof mark;
    if (mark.checksum != markOf(mark.key, bytes, count).checksum) return {CacheVerdict::Damaged, {}};
    if (mark.key != key) return {CacheVerdict::AnotherModel, {}};
    return {CacheVerdict::Accepted, {bytes, bytes + count}};
}

}  // namespace mnnc
