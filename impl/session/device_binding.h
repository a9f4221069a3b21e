// A buffer of a device that an input or output is bound to.
#pragma once
#include "session/stage_memory.h"

namespace mnnc {

class DeviceBinding {
  public:
    // For contents of `bytes`, below 0 where only a run knows. Throws what DeviceBackend::share() throws,
    // BufferTooSmall, LimitExceeded, and BadState for a buffer to be made of a size that is not known.
    DeviceBinding(SessionContext& context, const SharedBuffer& buffer, int64_t bytes);
    DeviceBinding(const DeviceBinding&) = delete;
    DeviceBinding& operator=(const DeviceBinding&) = delete;
    ~DeviceBinding() { context_.count(-budgeted_); }

    DeviceBlock& block() const noexcept { return *block_; }
    int64_t bytes() const noexcept { return bytes_; }  // that contents can have
    SharedBuffer describe(int64_t bytes, SharedBuffer::Kind kind) const;
    // Whether both lie in the same buffer of the host, and share bytes.
    bool overlaps(const DeviceBinding& other) const noexcept;

    // Memory of the host through which contents pass that the host reads or makes. Throws OutOfMemory, LimitExceeded.
    void* staging();
    // Copies the buffer there, or from there as many bytes. Allocate where that is another number than before.
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
    int64_t copied_ = -1;  // bytes of it
};

}  // namespace mnnc
