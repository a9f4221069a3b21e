// Memory of a session that counts against its limit, and grows until it is shrunk.
#pragma once
#include <cstring>
#include <utility>

#include "base/aligned.h"
#include "session/session_context.h"

namespace mnnc {

class BudgetedBuffer {
  public:
    explicit BudgetedBuffer(SessionContext& context) : context_(&context) {}
    BudgetedBuffer(BudgetedBuffer&& other) noexcept : context_(other.context_), buffer_(std::move(other.buffer_)) {}
    BudgetedBuffer& operator=(BudgetedBuffer&&) = delete;
    ~BudgetedBuffer() { release(); }

    // At least this many bytes; the old content is lost when it has to grow. Where there is no memory for more it has
    // as much as before again, if there still is.
    void* reserve(int64_t bytes, const char* what) {
        const auto held = static_cast<int64_t>(buffer_.size());
        if (bytes > held || !buffer_.data()) {
            context_->checkBudget(context_->keepReplaced ? bytes : bytes - held, what);
            release();
            buffer_ = AlignedBuffer();
            try {
                allocate(bytes > 0 ? bytes : 1);
            } catch (...) {
                regain(held);
                throw;
            }
        }
        return buffer_.data();
    }
    // Exactly this many bytes where it has more, with the content that they have; the larger memory stays where there
    // is no other.
    void shrink(int64_t bytes) noexcept {
        const auto held = static_cast<int64_t>(buffer_.size());
        if (bytes >= held) return;
        try {
            AlignedBuffer smaller(bytes, context_->hostMemory);
            if (bytes > 0) std::memcpy(smaller.data(), buffer_.data(), static_cast<size_t>(bytes));
            context_->count(static_cast<int64_t>(smaller.size()));
            release();
            buffer_ = std::move(smaller);
        } catch (...) {  // there is no memory for the smaller one
        }
    }
    // With one of the same session.
    void swap(BudgetedBuffer& other) noexcept { std::swap(buffer_, other.buffer_); }
    void* data() noexcept { return buffer_.data(); }
    int64_t size() const noexcept { return static_cast<int64_t>(buffer_.size()); }

  private:
    void allocate(int64_t bytes) {
        buffer_ = AlignedBuffer(bytes, context_->hostMemory);
        context_->count(static_cast<int64_t>(buffer_.size()));
    }
    void regain(int64_t bytes) noexcept {
        if (bytes == 0) return;
        try {
            allocate(bytes);
        } catch (...) {  // something else took it
        }
    }
    void release() noexcept {
        const auto held = static_cast<int64_t>(buffer_.size());
        if (!context_->keep(buffer_)) context_->count(-held);
    }

    SessionContext* context_;
    AlignedBuffer buffer_;
};

}  // namespace mnnc
