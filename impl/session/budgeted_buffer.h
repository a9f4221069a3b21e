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

    // Provides at least this many bytes; growing loses the old content. When the larger memory cannot be had, the
    // buffer tries to get its former size again.
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
    // Provides at least this many bytes, and keeps the content; further bytes are zeros. When this throws, nothing has
    // changed.
    void grow(int64_t bytes, const char* what) {
        const auto held = static_cast<int64_t>(buffer_.size());
        if (bytes <= held && buffer_.data()) return;
        BudgetedBuffer grown(*context_);
        auto* memory = static_cast<char*>(grown.reserve(bytes, what));
        if (held > 0) std::memcpy(memory, buffer_.data(), static_cast<size_t>(held));
        std::memset(memory + held, 0, grown.buffer_.size() - static_cast<size_t>(held));
        swap(grown);
    }
    // Shrinks to exactly this many bytes and keeps their content. The larger memory stays where no smaller one can be
    // allocated.
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
    // Both buffers must belong to the same session.
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
        } catch (...) {  // another allocation took the memory meanwhile
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
