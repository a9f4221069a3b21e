// Puts the key of a model in front of a cache, and checks it.
#include "session/model_cache.h"

#include <cstring>
#include <string_view>

#include "mnn_generated.h"
#include "model/model.h"

namespace mnnc {

namespace {

struct Mark {
    char magic[8] = {'M', 'N', 'N', 'C', 'M', 'O', 'D', '1'};
    uint64_t key = 0;
};

// FNV-1a.
class Hash {
  public:
    void add(const void* data, size_t bytes) {
        const auto* p = static_cast<const uint8_t*>(data);
        for (size_t i = 0; i < bytes; ++i) value_ = (value_ ^ p[i]) * 1099511628211u;
    }
    void add(std::string_view text) {
        add(text.data(), text.size());
        add(text.size());
    }
    void add(uint64_t number) { add(&number, sizeof number); }
    uint64_t value() const { return value_; }

  private:
    uint64_t value_ = 14695981039346656037u;
};

}  // namespace

uint64_t modelCacheKey(const Model& model, const BackendConfig& config) {
    Hash hash;
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
    Mark mark;
    mark.key = key;
    std::vector<uint8_t> marked(sizeof mark + bytes.size());
    std::memcpy(marked.data(), &mark, sizeof mark);
    std::memcpy(marked.data() + sizeof mark, bytes.data(), bytes.size());
    return marked;
}

std::vector<uint8_t> cacheOfModel(const std::vector<uint8_t>& marked, uint64_t key) {
    Mark wanted;
    wanted.key = key;
    if (marked.size() <= sizeof wanted || std::memcmp(marked.data(), &wanted, sizeof wanted) != 0) return {};
    return {marked.begin() + sizeof wanted, marked.end()};
}

}  // namespace mnnc
