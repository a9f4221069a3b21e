// mnn_tensor_*: describes an input or output, and copies from and to the host.
#include <algorithm>
#include <utility>

#include "c_api/guard.h"
#include "c_api/host_values.h"
#include "session/device_values.h"
#include "session/value.h"
#include "tensor/host_copy.h"
#include "tensor/stored_content.h"

using namespace mnnc;

namespace {

const Operand& storageOf(const TensorUse& handle) {
    return handle.storage();
}

const Shape& shapeOf(const TensorUse& handle) {
    const Session& session = *handle.session().impl;
    if (const Operand* observed = handle.observed()) return observed->shape;
    if (handle.isConstant()) return handle.storage().shape;
    if (handle.isInput()) return session.inputShape(handle.index());
    if (!session.outputShaped(handle.index()))
        fail(Status::BadState, "output '%s' has no shape before the session is %s", storageOf(handle).name.c_str(),
             session.needsResize() ? "resized" : "run, its shape depends on contents");
    return session.output(handle.index()).shape;
}

// Returns the tensor as a caller sees it; throws unless all extents are known.
Operand described(const TensorUse& handle) {
    Operand tensor = storageOf(handle);
    tensor.shape = shapeOf(handle);
    if (std::any_of(tensor.shape.begin(), tensor.shape.end(), [](int64_t extent) { return extent < 0; }))
        fail(Status::BadState, "input '%s' still has the open shape %s", tensor.name.c_str(),
             tensor.shape.text().c_str());
    return tensor;
}

void requireResizedFor(const TensorUse& handle) {
    if (handle.isConstant()) return;
    if (handle.session().impl->needsResize()) fail(Status::BadState, "the session has to be resized first");
}

// The bytes of a host buffer with elements of `type`, and their number.
struct HostBuffer {
    HostBuffer(const Operand& tensor, int32_t wanted, Format order) : type(wanted), own(publicType(tensor.type)) {
        const size_t element = hostElementBytes(type);
        count = static_cast<size_t>(hostBytes(tensor, order)) / hostElementBytes(own);
        bytes = count * element;
    }
    int32_t type, own;
    size_t count, bytes;
};

void store(const Operand& target, void* memory, const void* data, const HostBuffer& buffer, Format from) {
    if (buffer.type == buffer.own) return copyFromHost(target, memory, data, from);
    if (target.channelBlock == 1 && from == rowMajor(target))
        return convertElements(data, buffer.type, memory, buffer.own, buffer.count, target.name.c_str());
    std::vector<uint8_t> copy(static_cast<size_t>(hostBytes(target, from)));
    convertElements(data, buffer.type, copy.data(), buffer.own, buffer.count, target.name.c_str());
    copyFromHost(target, memory, copy.data(), from);
}

// A readable tensor: its elements lie in memory of the session, or in a copy.
struct Readable {
    Operand tensor;
    const void* data = nullptr;
    std::shared_ptr<const void> copy;  // null: there is no copy
};

void load(const Readable& source, void* data, const HostBuffer& buffer, Format to) {
    const Operand& tensor = source.tensor;
    if (buffer.type == buffer.own) return copyToHost(tensor, source.data, data, to);
    if (tensor.channelBlock == 1 && to == rowMajor(tensor))
        return convertElements(source.data, buffer.own, data, buffer.type, buffer.count, tensor.name.c_str());
    std::vector<uint8_t> copy(static_cast<size_t>(hostBytes(tensor, to)));
    copyToHost(tensor, source.data, copy.data(), to);
    convertElements(copy.data(), buffer.own, data, buffer.type, buffer.count, tensor.name.c_str());
}

// Returns row-major values from memory that is bound to the tensor and copied in a run.
Readable fromBinding(const Operand& tensor, const Binding& binding) {
    Readable result{tensor, nullptr, nullptr};
    result.tensor.channelBlock = 1;
    const auto memory = std::make_shared<AlignedBuffer>(result.tensor.storageBytes());
    store(result.tensor, memory->data(), binding.data,
          HostBuffer(tensor, binding.half ? MNN_TYPE_FLOAT16 : publicType(tensor.type), binding.format),
          binding.format);
    result.copy = {memory, memory->data()};
    result.data = memory->data();
    return result;
}

// Reads the values of a tensor that is shown to a callback from the memory of the device.
Readable fromDevice(const TensorUse& handle, const Operand& tensor) {
    const Session& session = *handle.session().impl;
    for (const Path& path : session.paths()) {
        if (!path.context().showsDevice) continue;
        Readable result{tensor, nullptr, nullptr};
        const auto memory = std::make_shared<AlignedBuffer>(
            deviceValues(*path.context().device, tensor, *handle.session().observedFrame, result.tensor));
        result.copy = {memory, memory->data()};
        result.data = memory->data();
        return result;
    }
    fail(Status::BadState,
         "tensor '%s' lies in the device's memory, where callbacks see it with MNN_GPU_RECORD_OP alone; save_tensors "
         "makes it an output",
         tensor.name.c_str());
}

bool inBuffer(const TensorUse& handle, const Bindings& bindings) {
    return handle.isInput() ? bindings.inputBuffer(handle.index()) : bindings.outputBuffer(handle.index());
}

// Returns the tensor; throws unless its values exist.
Readable readable(const TensorUse& handle) {
    const Operand& tensor = storageOf(handle);
    const void* data = handle.data();
    const Bindings* bindings = handle.session().impl->bindings();
    if (handle.observed() || handle.isConstant()) {
        if (!data && tensor.stored) {  // the content is in a file only
            std::shared_ptr<const void> content = tensor.stored->load();
            return {tensor, content.get(), content};
        }
        if (!data && !tensor.empty()) return fromDevice(handle, tensor);
    } else if (bindings && inBuffer(handle, *bindings)) {
        fail(Status::BadState, "tensor '%s' is bound to a buffer of the device, where the host does not read it",
             tensor.name.c_str());
    } else if (handle.isInput()) {
        if (bindings && bindings->input(handle.index()).copied() && !tensor.empty())
            return fromBinding(tensor, bindings->input(handle.index()));
    } else if (!handle.session().impl->outputReadable(handle.index())) {
        fail(Status::BadState, "output '%s' has no values before a run succeeds", tensor.name.c_str());
    } else if (bindings && bindings->output(handle.index()).copied() && bindings->delivered(handle.index()) &&
               !tensor.empty()) {
        return fromBinding(tensor, bindings->output(handle.index()));
    }
    return {tensor, data, nullptr};
}

void requireUnbound(const TensorUse& handle) {
    const Bindings* bindings = handle.session().impl->bindings();
    if (bindings && bindings->input(handle.index()).bound())
        fail(Status::BadState, "input '%s' is bound to memory of the caller", storageOf(handle).name.c_str());
}

// type: that of the elements in data; null: the tensor's.
void write(mnn_tensor_t* tensor, const void* data, size_t bytes, const int32_t* type, int32_t format,
           const char* call) {
    const TensorUse handle(tensor, Access::Alone, call);
    const Format from = readFormat(format);
    const Operand& known = storageOf(handle);
    if (!handle.isInput() && !handle.isConstant())
        fail(Status::BadState, "tensor '%s' is an output and cannot be written", known.name.c_str());
    requireResizedFor(handle);
    if (handle.isInput()) requireUnbound(handle);
    const HostBuffer buffer(known, type ? *type : handle.type(), from);
    if (bytes != buffer.bytes)
        fail(Status::InputDataError, "%s '%s' of shape %s takes %zu bytes, %zu are given",
             handle.isInput() ? "input" : "constant", known.name.c_str(), known.shape.text().c_str(), buffer.bytes,
             bytes);
    if (bytes == 0) return;
    if (!data) fail(Status::NullArgument, "argument 'data' is NULL");
    Session& session = *handle.session().impl;
    if (handle.isInput()) return store(known, session.inputData(handle.index()), data, buffer, from);
    const int constant = handle.tensor().constant;
    store(known, session.ownConstant(constant), data, buffer, from);
    session.constantWritten(constant);
}

// type: that of the elements in data; null: the tensor's.
void read(const mnn_tensor_t* tensor, void* data, size_t bytes, const int32_t* type, int32_t format, const char* call) {
    const TensorUse handle(tensor, Access::Read, call);
    const Format to = readFormat(format);
    requireResizedFor(handle);
    const Readable source = readable(handle);
    const HostBuffer buffer(source.tensor, type ? *type : handle.type(), to);
    if (bytes < buffer.bytes)
        fail(Status::BufferTooSmall, "tensor '%s' of shape %s takes %zu bytes, the buffer has %zu",
             source.tensor.name.c_str(), source.tensor.shape.text().c_str(), buffer.bytes, bytes);
    if (buffer.bytes == 0) return;
    if (!data) fail(Status::NullArgument, "argument 'buffer' is NULL");
    if (!source.data) fail(Status::Internal, "tensor '%s' has no memory", source.tensor.name.c_str());
    load(source, data, buffer, to);
}

}  // namespace

mnn_status mnn_tensor_name(const mnn_tensor_t* tensor, const char** name) {
    return guard([&] {
        required(name, "name");
        const TensorUse handle(tensor, Access::Always, "mnn_tensor_name");
        const Operand* observed = handle.observed();
        *name = (observed ? observed->name : handle.tensor().name).c_str();
    });
}

mnn_status mnn_tensor_shape(const mnn_tensor_t* tensor, int32_t* dims, size_t capacity, size_t* rank) {
    return guard([&] {
        const TensorUse handle(tensor, Access::Read, "mnn_tensor_shape");
        fillShape(dims, capacity, rank, shapeOf(handle), "the tensor's shape");
    });
}

mnn_status mnn_tensor_element_count(const mnn_tensor_t* tensor, size_t* count) {
    return guard([&] {
        required(count, "count");
        *count = static_cast<size_t>(described(TensorUse(tensor, Access::Read, "mnn_tensor_element_count")).elements());
    });
}

mnn_status mnn_tensor_byte_size(const mnn_tensor_t* tensor, int32_t format, size_t* bytes) {
    return guard([&] {
        required(bytes, "bytes");
        const TensorUse handle(tensor, Access::Read, "mnn_tensor_byte_size");
        *bytes = HostBuffer(described(handle), handle.type(), readFormat(format)).bytes;
    });
}

mnn_status mnn_tensor_write(mnn_tensor_t* tensor, const void* data, size_t bytes, int32_t format) {
    return guard([&] { write(tensor, data, bytes, nullptr, format, "mnn_tensor_write"); });
}

mnn_status mnn_tensor_write_as(mnn_tensor_t* tensor, const void* data, size_t bytes, int32_t type, int32_t format) {
    return guard([&] { write(tensor, data, bytes, &type, format, "mnn_tensor_write_as"); });
}

mnn_status mnn_tensor_read(const mnn_tensor_t* tensor, void* buffer, size_t bytes, int32_t format) {
    return guard([&] { read(tensor, buffer, bytes, nullptr, format, "mnn_tensor_read"); });
}

mnn_status mnn_tensor_read_as(const mnn_tensor_t* tensor, void* buffer, size_t bytes, int32_t type, int32_t format) {
    return guard([&] { read(tensor, buffer, bytes, &type, format, "mnn_tensor_read_as"); });
}

mnn_status mnn_tensor_map(mnn_tensor_t* tensor, int32_t access, void** data) {
    return guard([&] {
        const TensorUse handle(tensor, Access::Alone, "mnn_tensor_map");
        required(data, "data");
        if (access < MNN_MAP_READ || access > (MNN_MAP_READ | MNN_MAP_WRITE))
            fail(Status::InvalidValue, "access is %d; it is MNN_MAP_READ, MNN_MAP_WRITE or both", access);
        if (handle.isConstant())
            fail(Status::BadState, "constant '%s' is read and written by copying, it cannot be mapped",
                 storageOf(handle).name.c_str());
        Mapping& mapping = handle.mapping();
        const uint64_t plan = handle.session().impl->plans();
        if (mapping.access && mapping.plan == plan)
            fail(Status::BadState, "tensor '%s' is mapped already", storageOf(handle).name.c_str());
        requireResizedFor(handle);
        if (!handle.isInput() && (access & MNN_MAP_WRITE))
            fail(Status::BadState, "tensor '%s' is an output and cannot be written", storageOf(handle).name.c_str());
        if (access & MNN_MAP_WRITE) requireUnbound(handle);
        const Readable source = readable(handle);
        // The caller writes only to inputs, whose memory belongs to the session or to the caller.
        void* result = const_cast<void*>(source.data);
        std::vector<uint8_t> copy;
        const Format own = rowMajor(source.tensor);
        const HostBuffer buffer(source.tensor, handle.type(), own);
        if (source.tensor.channelBlock != 1 || source.copy || buffer.type != buffer.own) {
            copy.resize(buffer.bytes);
            if ((access & MNN_MAP_READ) && !copy.empty()) load(source, copy.data(), buffer, own);
            result = copy.data();
        }
        if (!mapping.access) ++handle.session().mapped;
        mapping = {access, plan, std::move(copy)};
        handle.session().impl->keepMapped(true);
        *data = result;
    });
}

mnn_status mnn_tensor_unmap(mnn_tensor_t* tensor) {
    return guard([&] {
        const TensorUse handle(tensor, Access::Alone, "mnn_tensor_unmap");
        const Mapping mapping = std::exchange(handle.mapping(), {});
        if (!mapping.access) fail(Status::BadState, "tensor '%s' is not mapped", storageOf(handle).name.c_str());
        Session& session = *handle.session().impl;
        session.keepMapped(--handle.session().mapped > 0);
        if (mapping.plan != session.plans() || session.needsResize())
            fail(Status::BadState, "tensor '%s' was resized while it was mapped: the written values are lost",
                 storageOf(handle).name.c_str());
        if (!(mapping.access & MNN_MAP_WRITE) || mapping.copy.empty()) return;
        const Operand& target = session.input(handle.index());
        store(target, session.inputData(handle.index()), mapping.copy.data(),
              HostBuffer(target, handle.type(), rowMajor(target)), rowMajor(target));
    });
}
