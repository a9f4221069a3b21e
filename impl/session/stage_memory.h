// The memory of one stage for all of its plans: the host's arena and, on a device, its arena and the block for exchange
// with the host. It counts against the session's limit, and grows to what the largest plan needs.
#pragma once
#include <cstring>

#include "backend/device_backend.h"
#include "plan/fences.h"
#include "plan/step_plan.h"
#include "session/budgeted_buffer.h"

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

class StageMemory {
  public:
    explicit StageMemory(SessionContext& context)
        : host_(context),
          arena_(context, DeviceUse::Compute),
          uploads_(context, DeviceUse::Upload),
          downloads_(context, DeviceUse::Download) {}
    // Provides memory for the needs, except for constants of a plan. Growing loses the content. Throws where the
    // session may not have it.
    MemoryBases reserve(const MemoryNeeds& needs) {
        if (needs.host > 0) host_.reserve(needs.host, "the arena of a session");
        arena_.reserve(needs.of(MemoryBlock::Arena), "the arena of a session on the device");
        uploads_.reserve(needs.of(MemoryBlock::Uploads), "memory for copies to the device");
        downloads_.reserve(needs.of(MemoryBlock::Downloads), "memory for copies from the device");
        return bases();
    }
    // Releases memory beyond these needs. Where the host sees the remaining memory, it keeps its content.
    void shrink(const MemoryNeeds& needs) {
        unfence(host_.data(), host_.size());  // all of it is copied, so no part may stay fenced
        host_.shrink(needs.host);
        arena_.shrink(needs.of(MemoryBlock::Arena));
        uploads_.shrink(needs.of(MemoryBlock::Uploads));
        downloads_.shrink(needs.of(MemoryBlock::Downloads));
    }
    // The memory that exists now.
    MemoryBases bases() noexcept {
        return {static_cast<char*>(host_.data()), {arena_.get(), nullptr, uploads_.get(), downloads_.get()}};
    }
    // Identifies the blocks of the device: a new block has another number.
    std::array<uint64_t, kMemoryBlocks> generations() const noexcept {
        return {arena_.generation(), 0, uploads_.generation(), downloads_.generation()};
    }
    int64_t bytes() const noexcept { return host_.size() + arena_.size() + uploads_.size() + downloads_.size(); }

  private:
    BudgetedBuffer host_;
    BudgetedBlock arena_, uploads_, downloads_;
};

}  // namespace mnnc
