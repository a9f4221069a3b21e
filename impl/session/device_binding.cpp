// Takes a buffer of the host, or makes one, and copies between it and the host's memory.
#include "session/device_binding.h"

namespace mnnc {

namespace {

int64_t sizeOf(const SharedBuffer& buffer, int64_t needed) {
    if (buffer.allocate && needed < 0)
        fail(Status::BadState, "only a run knows the size of the contents: the session cannot make a buffer for them");
    if (buffer.allocate) return needed;
    if (needed < 0) return static_cast<int64_t>(std::min<uint64_t>(buffer.bytes, static_cast<uint64_t>(INT64_MAX)));
    if (buffer.bytes < static_cast<uint64_t>(needed))
        fail(Status::BufferTooSmall, "the contents take %lld bytes, the buffer has %llu from its offset on",
             asLong(needed), static_cast<unsigned long long>(buffer.bytes));
    return needed;
}

}  // namespace

DeviceBinding::DeviceBinding(SessionContext& context, const SharedBuffer& buffer, int64_t bytes)
    : context_(context), buffer_(buffer), bytes_(sizeOf(buffer, bytes)), staging_(context, DeviceUse::Download) {
    if (!buffer.allocate) {
        block_ = context.device->share(buffer, bytes_);
        return;
    }
    context.checkBudget(bytes_, "a buffer of the device");
    block_ = context.device->share(buffer, bytes_);
    budgeted_ = bytes_;
    context.count(bytes_);
    ++context.deviceAllocations;
}

SharedBuffer DeviceBinding::describe(int64_t bytes, SharedBuffer::Kind kind) const {
    return context_.device->describe(*block_, 0, bytes, kind);
}

bool DeviceBinding::overlaps(const DeviceBinding& other) const noexcept {
    const auto isHandle = [](const DeviceBinding& binding) {
        return binding.buffer_.kind == SharedBuffer::Kind::Handle && !binding.buffer_.allocate;
    };
    return isHandle(*this) && isHandle(other) && buffer_.buffer == other.buffer_.buffer &&
           buffer_.offset < other.buffer_.offset + other.buffer_.bytes &&
           other.buffer_.offset < buffer_.offset + buffer_.bytes;
}

void* DeviceBinding::staging() {
    return staging_.reserve(std::max<int64_t>(bytes_, 1), "memory between a buffer of the device and the host")->host();
}

void DeviceBinding::copy(const DeviceBlock& from, const DeviceBlock& to, int64_t bytes) {
    if (bytes == 0) return;
    if (copied_ != bytes) {
        copied_ = -1;
        copy_ = context_.device->createCopy(from, to, bytes);
        copied_ = bytes;
    }
    copy_->run();
}

void DeviceBinding::fetch(int64_t bytes) {
    copy(*block_, *staging_.get(), bytes);
}

void DeviceBinding::deliver(int64_t bytes) {
    copy(*staging_.get(), *block_, bytes);
}

}  // namespace mnnc
