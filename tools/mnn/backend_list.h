// The backends that --backend names; the tool has no other list of them.
#pragma once
#include <mnn_c.h>

#include <string>
#include <vector>

namespace tool {

struct BackendRow {
    const char* name;
    int32_t forwardType;
    bool isGpu;  // --device, --gpu-mode and --validate apply to it
};

inline constexpr BackendRow kBackends[] = {
    {"cpu", MNN_FORWARD_CPU, false}, {"vulkan", MNN_FORWARD_VULKAN, true}, {"auto", MNN_FORWARD_AUTO, false}};

// The GPU backend that help texts and error messages name.
inline constexpr const BackendRow& kGpuBackend = kBackends[1];

// Returns null for an unknown name.
inline const BackendRow* findBackend(const std::string& name) {
    for (const BackendRow& row : kBackends)
        if (name == row.name) return &row;
    return nullptr;
}

}  // namespace tool
