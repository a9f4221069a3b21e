// The memory of one stage: host arena, and on a device the arena, constants, and what the host exchanges with
// it. All of it counts against the session's limit and only grows.
#pragma once
#include "backend/device_backend.h"
#include "plan/step_plan.h"
#include "session/budgeted_buffer.h"

namespace mnnc {

class BudgetedBlock {
  public:
    BudgetedBlock(SessionContext& context, DeviceUse use) : context_(context), use_(use) {}
    BudgetedBlock(const BudgetedBlock&) = delete;
    BudgetedBlock& operator=(const BudgetedBlock&) = delete;
    ~BudgetedBlock() { release(); }

    // At least this many bytes; null for none. The old content is lost when it has to grow.
    DeviceBlock* reserve(int64_t bytes, const char* what) {
        if (bytes > bytes_) {
            release();
            context_.reserveBudget(bytes, what);
            bytes_ = bytes;
            try {
                block_ = context_.device->allocate(bytes, use_);
            } catch (...) {
                release();
                throw;
            }
        }
        return block_.get();
    }
    void release() noexcept {
        if (!context_.keep(block_, bytes_)) context_.heldBytes -= bytes_;
        block_.reset();
        bytes_ = 0;
    }
    int64_t size() const noexcept { return bytes_; }

  private:
    SessionContext& context_;
    const DeviceUse use_;
    DeviceBlockPtr block_;
    int64_t bytes_ = 0;
};

class StageMemory final : public PlanMemory {
  public:
    explicit StageMemory(SessionContext& context)
        : host_(context),
          arena_(context, DeviceUse::Compute),
          constants_(context, DeviceUse::Compute),
          uploads_(context, DeviceUse::Upload),
          downloads_(context, DeviceUse::Download) {}
    void* hostArena(int64_t bytes) override {
        return bytes > 0 ? host_.reserve(bytes, "the arena of a session") : host_.data();
    }
    DeviceBlock* device(Block block, int64_t bytes) override {
        switch (block) {
            case Block::Arena:
                return arena_.reserve(bytes, "the arena of a session on the device");
            case Block::Constants:
                return constants_.reserve(bytes, "constants on the device");
            case Block::Uploads:
                return uploads_.reserve(bytes, "memory for copies to the device");
            case Block::Downloads:
                return downloads_.reserve(bytes, "memory for copies from the device");
        }
        return nullptr;
    }
    int64_t bytes() const noexcept {
        return host_.size() + arena_.size() + constants_.size() + uploads_.size() + downloads_.size();
    }

  private:
    BudgetedBuffer host_;
    BudgetedBlock arena_, constants_, uploads_, downloads_;
};

}  // namespace mnnc
