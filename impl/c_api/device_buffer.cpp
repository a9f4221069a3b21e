// mnn_session_bind_*_buffer(), mnn_tensor_device_buffer(): inputs and outputs in buffers of a device.
#include "c_api/bindable.h"

using namespace mnnc;

namespace {

// The size of the struct's first version; it stays when the struct grows.
constexpr size_t kBufferSize = sizeof(mnn_device_buffer_t);

SharedBuffer::Kind readKind(int32_t kind) {
    if (kind != MNN_BUFFER_VULKAN && kind != MNN_BUFFER_OPAQUE_FD)
        fail(Status::InvalidValue, "buffer.kind is %d; it is MNN_BUFFER_VULKAN (1) or MNN_BUFFER_OPAQUE_FD (2)", kind);
    return kind == MNN_BUFFER_VULKAN ? SharedBuffer::Kind::Handle : SharedBuffer::Kind::Descriptor;
}

SharedBuffer readBuffer(const mnn_device_buffer_t& given) {
    const mnn_device_buffer_t read = readStruct(given, kBufferSize, "buffer");
    SharedBuffer buffer;
    buffer.kind = readKind(read.kind);
    if (read.allocate != 0 && read.allocate != 1)
        fail(Status::InvalidValue, "buffer.allocate is %d; it is 0 or 1", read.allocate);
    buffer.allocate = read.allocate == 1;
    if (buffer.allocate) return buffer;
    if (buffer.kind == SharedBuffer::Kind::Handle && read.buffer == 0)
        fail(Status::NullArgument, "buffer.buffer is VK_NULL_HANDLE");
    buffer.buffer = read.buffer;
    buffer.offset = read.offset;
    buffer.bytes = read.bytes;
    buffer.memoryBytes = read.memory_bytes;
    buffer.memoryType = read.memory_type;
    buffer.descriptor = read.fd;
    return buffer;
}

}  // namespace

mnn_status mnn_device_buffer_init(mnn_device_buffer_t* buffer, size_t struct_size) {
    return guard([&] { initStruct(&required(buffer, "buffer"), struct_size, kBufferSize, "buffer"); });
}

mnn_status mnn_session_bind_input_buffer(mnn_session_t* session, mnn_tensor_t* tensor,
                                         const mnn_device_buffer_t* buffer) {
    return guard([&] {
        const SessionUse handle(session, Access::Alone, "mnn_session_bind_input_buffer");
        const size_t index = bindable(handle, tensor, true);
        if (buffer)
            handle->impl->bindInput(index, readBuffer(*buffer));
        else
            handle->impl->bindInput(index, nullptr, 0, Format::NCHW);
    });
}

mnn_status mnn_session_bind_output_buffer(mnn_session_t* session, mnn_tensor_t* tensor,
                                          const mnn_device_buffer_t* buffer) {
    return guard([&] {
        const SessionUse handle(session, Access::Alone, "mnn_session_bind_output_buffer");
        const size_t index = bindable(handle, tensor, false);
        if (buffer)
            handle->impl->bindOutput(index, readBuffer(*buffer));
        else
            handle->impl->bindOutput(index, nullptr, 0, Format::NCHW);
    });
}

mnn_status mnn_tensor_device_buffer(const mnn_tensor_t* tensor, mnn_device_buffer_t* buffer) {
    return guard([&] {
        checkStructSize(required(buffer, "buffer").struct_size, kBufferSize, "buffer");
        const TensorUse handle(tensor, Access::Read, "mnn_tensor_device_buffer");
        const SharedBuffer::Kind kind = readKind(buffer->kind);
        if (handle.observed() || handle.isConstant())
            fail(Status::BadState, "tensor '%s' is neither an input nor an output", handle.storage().name.c_str());
        Session& session = *handle.session().impl;
        const SharedBuffer found =
            handle.isInput() ? session.inputBuffer(handle.index(), kind) : session.outputBuffer(handle.index(), kind);
        mnn_device_buffer_t result{};
        result.kind = buffer->kind;
        result.buffer = found.buffer;
        result.offset = found.offset;
        result.bytes = found.bytes;
        result.memory_bytes = found.memoryBytes;
        result.memory_type = found.memoryType;
        result.fd = found.descriptor;
        result.memory = found.memory;
        result.memory_offset = found.memoryOffset;
        writeStruct(buffer, result);
    });
}
