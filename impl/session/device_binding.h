// A buffer of a device that an input or output is bound to.
#pragma once
#include "session/stage_memory.h"

namespace mnnc {

class DeviceBinding {
  public:
    // bytes: size of the contents, below 0 where only a run knows it. Throws what DeviceBackend::share() throws,
    // BufferTooSmall, LimitExceeded, and BadState when a buffer is to be made although the size is unknown.
    DeviceBinding(SessionContext& context, const SharedBuffer& buffer, int64_t bytes);
    DeviceBinding(const DeviceBinding&) = delete;
    DeviceBinding& operator=(const DeviceBinding&) = delete;
    ~DeviceBinding() { context_.count(-budgeted_); }

    DeviceBlock& block() const noexcept { return *block_; }
    int64_t bytes() const noexcept { return bytes_; }  // capacity for contents
    SharedBuffer describe(int64_t bytes, SharedBuffer::Kind kind) const;
    // Returns whether both lie in the same buffer of the host and overlap there.
    bool overlaps(const DeviceBinding& other) const noexcept;

    // Memory of the host for contents that the host reads or writes. Throws OutOfMemory, LimitExceeded.
    void* staging();
    // fetch() copies from the buffer to the staging memory, deliver() from there to the buffer. Both allocate when the
    // number of bytes differs from that of the last copy.
    void fetch(int64_t bytes);
    void deliver(int64_t bytes);

  private:
    void copy(const DeviceBlock& from, const DeviceBlock& to, int64_t bytes);

    SessionContext& context_;
    const SharedBuffer buffer_;  // as the host gave it
    const int64_t bytes_;
    int64_t budgeted_ = 0;
    DeviceBlockPtr block_;
    BudgetedBlock staging_;
    std::unique_ptr<BlockCopy> copy_;
    int64_t copied_ = -1;  // bytes that copy_ moves
};

}  // namespace mnnc
