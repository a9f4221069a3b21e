// The memory of one stage for all of its plans: the host's arena and, on a device, its arena and the blocks for
// exchange with the host. It counts against the session's limit, and grows to what the largest plan needs.
#pragma once
#include "plan/fences.h"
#include "plan/step_plan.h"
#include "session/budgeted_block.h"
#include "session/budgeted_buffer.h"

namespace mnnc {

class StageMemory {
  public:
    explicit StageMemory(SessionContext& context)
        : host_(context),
          arena_(context, DeviceUse::Compute),
          uploads_(context, DeviceUse::Upload),
          downloads_(context, DeviceUse::Download),
          masks_(context, DeviceUse::Upload) {}
    // Provides memory for the needs, except for constants of a plan and masks. Growing loses the content. Throws
    // LimitExceeded, OutOfMemory and what a device throws.
    MemoryBases reserve(const MemoryNeeds& needs) {
        if (needs.host > 0) host_.reserve(needs.host, "the arena of a session");
        arena_.reserve(needs.of(MemoryBlock::Arena), "the arena of a session on the device");
        uploads_.reserve(needs.of(MemoryBlock::Uploads), "memory for copies to the device");
        downloads_.reserve(needs.of(MemoryBlock::Downloads), "memory for copies from the device");
        return bases();
    }
    DeviceBlock* reserveMasks(int64_t bytes) { return masks_.reserve(bytes, "masks for the device"); }
    // Releases memory beyond these needs. Where the host sees the remaining memory, it keeps its content.
    void shrink(const MemoryNeeds& needs) {
        unfence(host_.data(), host_.size());  // all of it is copied, so no part may stay fenced
        host_.shrink(needs.host);
        arena_.shrink(needs.of(MemoryBlock::Arena));
        uploads_.shrink(needs.of(MemoryBlock::Uploads));
        downloads_.shrink(needs.of(MemoryBlock::Downloads));
        masks_.shrink(needs.of(MemoryBlock::Masks));
    }
    // Returns the memory that exists now.
    MemoryBases bases() noexcept {
        return {static_cast<char*>(host_.data()),
                {arena_.get(), nullptr, uploads_.get(), downloads_.get(), masks_.get()}};
    }
    // Identifies the blocks of the device: a new block has another number.
    std::array<uint64_t, kMemoryBlocks> generations() const noexcept {
        return {arena_.generation(), 0, uploads_.generation(), downloads_.generation(), masks_.generation()};
    }
    int64_t bytes() const noexcept {
        return host_.size() + arena_.size() + uploads_.size() + downloads_.size() + masks_.size();
    }

  private:
    BudgetedBuffer host_;
    BudgetedBlock arena_, uploads_, downloads_, masks_;
};

}  // namespace mnnc
