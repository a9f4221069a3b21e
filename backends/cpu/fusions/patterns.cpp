// The one list of the CPU backend's composite fusions.
#include "backends/cpu/fusions/patterns.h"

namespace mnnc::cpu {

std::span<const FusionPattern* const> fusionPatterns() noexcept {
    static constexpr const FusionPattern* kPatterns[] = {
        &kPointwiseDepthwise,
        &kResizedConvolution,
        &kRotaryEmbedding,
        &kElementwiseChain,
    };
    return kPatterns;
}

}  // namespace mnnc::cpu
