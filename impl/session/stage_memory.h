// The memory of one stage: host arena, and on a device the arena, constants, and what the host exchanges with
// it. All of it counts against the session's limit and only grows.
#pragma once
#include "backend/device_backend.h"
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

struct StageMemory {
    explicit StageMemory(SessionContext& context)
        : arena(context),
          device(context, DeviceUse::Compute),
          constants(context, DeviceUse::Compute),
          uploads(context, DeviceUse::Upload),
          downloads(context, DeviceUse::Download) {}
    BudgetedBuffer arena;
    BudgetedBlock device, constants, uploads, downloads;
    int64_t bytes() const noexcept {
        return arena.size() + device.size() + constants.size() + uploads.size() + downloads.size();
    }
};

}  // namespace mnnc
