// The places of a plan's tensors and scratch in the memory of their stage, so that a plan can move to other memory.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/device_backend.h"
#include "backend/frame.h"
#include "tensor/operand.h"

namespace mnnc {

// The kinds of memory that a stage has on a device.
enum class MemoryBlock { Arena, Constants, Uploads, Downloads, Masks };
constexpr size_t kMemoryBlocks = 5;

// The number of bytes of each kind that a plan needs.
struct MemoryNeeds {
    int64_t host = 0;
    std::array<int64_t, kMemoryBlocks> blocks = {};

    int64_t& of(MemoryBlock block) noexcept { return blocks[static_cast<size_t>(block)]; }
    int64_t of(MemoryBlock block) const noexcept { return blocks[static_cast<size_t>(block)]; }
};

// Memory that meets the needs.
struct MemoryBases {
    char* host = nullptr;
    std::array<DeviceBlock*, kMemoryBlocks> blocks = {};

    bool operator==(const MemoryBases&) const = default;
};

// A tensor or the scratch of a step, at an offset in one of the memories.
struct Placement {
    int operand = 0;
    int64_t bytes = 0;
    bool onHost = true;       // in the host's arena; otherwise in `block`
    bool hostSeesIt = false;  // in a block that the host and the device exchange
    MemoryBlock block = MemoryBlock::Arena;
    int64_t offset = 0;

    void bind(Frame& frame, const MemoryBases& bases) const noexcept;
};

// A tensor that lies in the memory of another one, which is no view.
struct PlacedView {
    int operand, root;
    int64_t offset;      // bytes
    const void* values;  // set for a constant root; else null
};

std::vector<PlacedView> placedViews(std::span<Operand* const> views);
void bindViews(Frame& frame, std::span<const PlacedView> views) noexcept;

}  // namespace mnnc
