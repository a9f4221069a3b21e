// The table of operators: the families, and the search in them.
#include <algorithm>
#include <vector>

#include "emit/families.h"

namespace mnnc::onnx {

std::span<const Entry> allEntries() {
    static const std::vector<Entry> all = [] {
        std::vector<Entry> entries;
        for (const Family& family : {
#define MNN_C_FAMILY(name) name##Family,
#include "emit/families.def"
#undef MNN_C_FAMILY
             })
            entries.insert(entries.end(), family.begin(), family.end());
        return entries;
    }();
    return all;
}

const Entry* findEntry(std::string_view domain, std::string_view name, int64_t opset, bool& named) {
    named = false;
    for (const Entry& entry : allEntries()) {
        if (entry.name != name || entry.domain != domain) continue;
        named = true;
        if (opset >= entry.first && (opset <= entry.last || entry.last == kNewest)) return &entry;
    }
    return nullptr;
}

}  // namespace mnnc::onnx
