// The epilogue of a command in the form that kernels take (epilogue.glsl): a specialisation constant and two push
// words.
#pragma once
#include <cstdint>

#include "ir/epilogue.h"

namespace mnnc::vulkan {

struct PostOps {
    explicit PostOps(const Epilogue& epilogue)
        : code(static_cast<uint32_t>(epilogue.act) << 1 | static_cast<uint32_t>(epilogue.clips())),
          lo(epilogue.lo),
          hi(epilogue.hi),
          residual(epilogue.residual) {}

    uint32_t code;  // the constant kPostOps of the kernels
    float lo, hi;   // of the clamp
    bool residual;  // the last input is added first; not every kernel supports it
};

}  // namespace mnnc::vulkan
