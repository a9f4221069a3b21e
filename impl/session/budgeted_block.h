// Memory of a device that counts against the limit of its session, and grows until it is shrunk.
#pragma once
#include <cstring>

#include "backend/device_backend.h"
#include "session/session_context.h"

namespace mnnc {

class BudgetedBlock {
  public:
    BudgetedBlock(SessionContext& context, DeviceUse use) : context_(context), use_(use) {}
    BudgetedBlock(const BudgetedBlock&) = delete;
    BudgetedBlock& operator=(const BudgetedBlock&) = delete;
    ~BudgetedBlock() { release(); }

    // Provides at least this many bytes; null for none. Growing loses the old content. When the larger memory cannot be
    // had, it tries to get its former size again.
    DeviceBlock* reserve(int64_t bytes, const char* what) {
        if (bytes > bytes_) {
            context_.checkBudget(context_.keepReplaced ? bytes : bytes - bytes_, what);
            const int64_t held = bytes_;
            release();
            try {
                allocate(bytes);
            } catch (...) {
                regain(held);
                throw;
            }
        }
        return block_.get();
    }
    // Shrinks to exactly this many bytes; the part that the host sees keeps its content. The larger block stays where
    // no smaller one can be allocated.
    void shrink(int64_t bytes) {
        if (bytes >= bytes_) return;
        if (bytes == 0) return release();
        DeviceBlockPtr smaller;
        try {
            smaller = context_.device->allocate(bytes, use_);
        } catch (const std::bad_alloc&) {
            return;
        } catch (const Error& error) {
            if (error.status() == Status::OutOfMemory) return;
            throw;
        }
        if (smaller->host() && block_->host()) std::memcpy(smaller->host(), block_->host(), static_cast<size_t>(bytes));
        context_.count(bytes);
        release();
        block_ = std::move(smaller);
        bytes_ = bytes;
        ++generation_;
        ++context_.deviceAllocations;
    }
    void release() noexcept {
        if (!context_.keep(block_, bytes_)) context_.count(-bytes_);
        block_.reset();
        bytes_ = 0;
    }
    DeviceBlock* get() const noexcept { return block_.get(); }
    int64_t size() const noexcept { return bytes_; }
    uint64_t generation() const noexcept { return generation_; }  // counts the blocks so far

  private:
    void allocate(int64_t bytes) {
        ++generation_;
        block_ = context_.device->allocate(bytes, use_);
        ++context_.deviceAllocations;
        bytes_ = bytes;
        context_.count(bytes);
    }
    void regain(int64_t bytes) noexcept {
        if (bytes == 0) return;
        try {
            allocate(bytes);
        } catch (...) {  // another allocation took the memory meanwhile
        }
    }

    SessionContext& context_;
    const DeviceUse use_;
    DeviceBlockPtr block_;
    int64_t bytes_ = 0;
    uint64_t generation_ = 0;
};

}  // namespace mnnc
