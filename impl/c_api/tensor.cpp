// mnn_tensor_*: what an input or output is, and copies from and to the host.
#include <algorithm>
#include <utility>

#include "c_api/guard.h"
#include "c_api/host_values.h"
#include "session/value.h"
#include "tensor/host_copy.h"
#include "tensor/stored_content.h"

using namespace mnnc;

namespace {

const Tensor& storageOf(const TensorUse& handle) {
    return handle.storage();
}

const Shape& shapeOf(const TensorUse& handle) {
    const Session& session = *handle.session().impl;
    if (const Tensor* observed = handle.observed()) return observed->shape;
    if (handle.isConstant()) return handle.storage().shape;
    if (handle.isInput()) return session.inputShape(handle.index());
    if (!session.outputsShaped())
        fail(Status::BadState, "output '%s' has no shape before the session is %s",
             storageOf(handle).name.c_str(),
             session.needsResize() ? "resized" : "run, its shape depends on contents");
    return session.output(handle.index()).shape;
}

// The tensor as a caller sees it: all extents must be known.
Tensor described(const TensorUse& handle) {
    Tensor tensor = storageOf(handle);
    tensor.shape = shapeOf(handle);
    if (std::any_of(tensor.shape.begin(), tensor.shape.end(), [](int64_t extent) { return extent < 0; }))
        fail(Status::BadState, "input '%s' still has the open shape %s", tensor.name.c_str(),
             tensor.shape.text().c_str());
    return tensor;
}

void requireResized(const TensorUse& handle) {
    if (handle.isConstant()) return;
    if (handle.session().impl->needsResize()) fail(Status::BadState, "the session has to be resized first");
}

// The bytes of a host buffer with elements of `type`, and their number.
struct HostBuffer {
    HostBuffer(const Tensor& tensor, int32_t wanted, Format order)
        : type(wanted), own(publicType(tensor.type)) {
        const size_t element = hostElementBytes(type);
        count = static_cast<size_t>(hostBytes(tensor, order)) / hostElementBytes(own);
        bytes = count * element;
    }
    int32_t type, own;
    size_t count, bytes;
};

void store(Tensor& target, const void* data, const HostBuffer& buffer, Format from) {
    if (buffer.type == buffer.own) return copyFromHost(target, data, from);
    if (target.channelBlock == 1 && from == rowMajor(target))
        return convertElements(data, buffer.type, target.data, buffer.own, buffer.count, target.name.c_str());
    std::vector<uint8_t> copy(static_cast<size_t>(hostBytes(target, from)));
    convertElements(data, buffer.type, copy.data(), buffer.own, buffer.count, target.name.c_str());
    copyFromHost(target, copy.data(), from);
}

void load(const Tensor& source, void* data, const HostBuffer& buffer, Format to) {
    if (buffer.type == buffer.own) return copyToHost(source, data, to);
    if (source.channelBlock == 1 && to == rowMajor(source))
        return convertElements(source.data, buffer.own, data, buffer.type, buffer.count, source.name.c_str());
    std::vector<uint8_t> copy(static_cast<size_t>(hostBytes(source, to)));
    copyToHost(source, copy.data(), to);
    convertElements(copy.data(), buffer.own, data, buffer.type, buffer.count, source.name.c_str());
}

// A constant read for a callback, which nothing else keeps in memory; or what a caller's memory holds in another layout.
struct LoadedValues {
    Tensor tensor;
    std::shared_ptr<const void> content;
};

// Row-major values from memory that is bound to the tensor and copied at a run.
const Tensor& fromBinding(const Tensor& tensor, const Binding& binding, LoadedValues& loaded) {
    loaded.tensor = tensor;
    loaded.tensor.channelBlock = 1;
    const auto memory = std::make_shared<AlignedBuffer>(loaded.tensor.storageBytes());
    loaded.tensor.data = memory->data();
    store(loaded.tensor, binding.data,
          HostBuffer(tensor, binding.half ? MNN_TYPE_FLOAT16 : publicType(tensor.type), binding.format),
          binding.format);
    loaded.content = {memory, memory->data()};
    return loaded.tensor;
}

bool inBuffer(const TensorUse& handle, const Bindings& bindings) {
    return handle.isInput() ? bindings.inputBuffer(handle.index()) : bindings.outputBuffer(handle.index());
}

// The tensor, whose values are there.
const Tensor& readable(const TensorUse& handle, LoadedValues& loaded) {
    const Tensor& tensor = storageOf(handle);
    const Bindings* bindings = handle.session().impl->bindings();
    if (handle.observed() || handle.isConstant()) {
        if (!tensor.data && tensor.stored) {
            loaded.content = tensor.stored->load();
            loaded.tensor = tensor;
            loaded.tensor.data = const_cast<void*>(loaded.content.get());
            return loaded.tensor;
        }
        if (!tensor.data && !tensor.empty())
            fail(Status::BadState, "tensor '%s' lies in the device's memory: save_tensors makes it an output",
                 tensor.name.c_str());
    } else if (bindings && inBuffer(handle, *bindings)) {
        fail(Status::BadState,
             "tensor '%s' is bound to a buffer of the device, where the host does not read it",
             tensor.name.c_str());
    } else if (handle.isInput()) {
        if (bindings && bindings->input(handle.index()).copied() && !tensor.empty())
            return fromBinding(tensor, bindings->input(handle.index()), loaded);
    } else if (!handle.session().impl->outputReadable(handle.index())) {
        fail(Status::BadState, "output '%s' has no values before a run", tensor.name.c_str());
    } else if (bindings && bindings->output(handle.index()).copied() && bindings->delivered(handle.index()) &&
               !tensor.empty()) {
        return fromBinding(tensor, bindings->output(handle.index()), loaded);
    }
    return tensor;
}

void requireUnbound(const TensorUse& handle) {
    const Bindings* bindings = handle.session().impl->bindings();
    if (bindings && bindings->input(handle.index()).bound())
        fail(Status::BadState, "input '%s' is bound to memory of the caller", storageOf(handle).name.c_str());
}

// type: of the elements in data; null: the tensor's.
void write(mnn_tensor_t* tensor, const void* data, size_t bytes, const int32_t* type, int32_t format,
           const char* call) {
    const TensorUse handle(tensor, Access::Alone, call);
    const Format from = readFormat(format);
    const Tensor& known = storageOf(handle);
    if (!handle.isInput() && !handle.isConstant())
        fail(Status::BadState, "tensor '%s' is an output and cannot be written", known.name.c_str());
    requireResized(handle);
    if (handle.isInput()) requireUnbound(handle);
    const HostBuffer buffer(known, type ? *type : handle.type(), from);
    if (bytes != buffer.bytes)
        fail(Status::InputDataError, "%s '%s' of shape %s takes %zu bytes, %zu are given",
             handle.isInput() ? "input" : "constant", known.name.c_str(), known.shape.text().c_str(),
             buffer.bytes, bytes);
    if (bytes == 0) return;
    if (!data) fail(Status::NullArgument, "argument 'data' is NULL");
    Session& session = *handle.session().impl;
    if (handle.isInput()) return store(session.input(handle.index()), data, buffer, from);
    const int constant = handle.tensor().constant;
    store(session.ownConstant(constant), data, buffer, from);
    session.constantWritten(constant);
}

// type: of the elements in data; null: the tensor's.
void read(const mnn_tensor_t* tensor, void* data, size_t bytes, const int32_t* type, int32_t format,
          const char* call) {
    const TensorUse handle(tensor, Access::Read, call);
    const Format to = readFormat(format);
    requireResized(handle);
    LoadedValues loaded;
    const Tensor& source = readable(handle, loaded);
    const HostBuffer buffer(source, type ? *type : handle.type(), to);
    if (bytes < buffer.bytes)
        fail(Status::BufferTooSmall, "tensor '%s' of shape %s takes %zu bytes, the buffer has %zu",
             source.name.c_str(), source.shape.text().c_str(), buffer.bytes, bytes);
    if (buffer.bytes == 0) return;
    if (!data) fail(Status::NullArgument, "argument 'buffer' is NULL");
    if (!source.data) fail(Status::Internal, "tensor '%s' has no memory", source.name.c_str());
    load(source, data, buffer, to);
}

}  // namespace

mnn_status mnn_tensor_name(const mnn_tensor_t* tensor, const char** name) {
    return guard([&] {
        required(name, "name");
        const TensorUse handle(tensor, Access::Always, "mnn_tensor_name");
        const Tensor* observed = handle.observed();
        *name = (observed ? observed->name : handle.tensor().name).c_str();
    });
}

mnn_status mnn_tensor_shape(const mnn_tensor_t* tensor, int32_t* dims, size_t capacity, size_t* rank) {
    return guard([&] {
        const TensorUse handle(tensor, Access::Read, "mnn_tensor_shape");
        fillShape(dims, capacity, rank, shapeOf(handle), "the tensor's shape");
    });
}

mnn_status mnn_tensor_type(const mnn_tensor_t* tensor, int32_t* type) {
    return guard([&] {
        required(type, "type");
        const TensorUse handle(tensor, Access::Read, "mnn_tensor_type");
        shapeOf(handle);
        *type = handle.type();
    });
}

mnn_status mnn_tensor_format(const mnn_tensor_t* tensor, int32_t* format) {
    return guard([&] {
        required(format, "format");
        const TensorUse handle(tensor, Access::Read, "mnn_tensor_format");
        shapeOf(handle);
        *format = static_cast<int32_t>(storageOf(handle).format);
    });
}

mnn_status mnn_tensor_element_count(const mnn_tensor_t* tensor, size_t* count) {
    return guard([&] {
        required(count, "count");
        *count = static_cast<size_t>(
            described(TensorUse(tensor, Access::Read, "mnn_tensor_element_count")).elements());
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

mnn_status mnn_tensor_write_as(mnn_tensor_t* tensor, const void* data, size_t bytes, int32_t type,
                               int32_t format) {
    return guard([&] { write(tensor, data, bytes, &type, format, "mnn_tensor_write_as"); });
}

mnn_status mnn_tensor_read(const mnn_tensor_t* tensor, void* buffer, size_t bytes, int32_t format) {
    return guard([&] { read(tensor, buffer, bytes, nullptr, format, "mnn_tensor_read"); });
}

mnn_status mnn_tensor_read_as(const mnn_tensor_t* tensor, void* buffer, size_t bytes, int32_t type,
                              int32_t format) {
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
        requireResized(handle);
        if (!handle.isInput() && (access & MNN_MAP_WRITE))
            fail(Status::BadState, "tensor '%s' is an output and cannot be written",
                 storageOf(handle).name.c_str());
        if (access & MNN_MAP_WRITE) requireUnbound(handle);
        LoadedValues loaded;
        const Tensor& source = readable(handle, loaded);
        void* result = source.data;
        std::vector<uint8_t> copy;
        const Format own = rowMajor(source);
        const HostBuffer buffer(source, handle.type(), own);
        if (source.channelBlock != 1 || loaded.content || buffer.type != buffer.own) {
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
        if (!mapping.access)
            fail(Status::BadState, "tensor '%s' is not mapped", storageOf(handle).name.c_str());
        Session& session = *handle.session().impl;
        session.keepMapped(--handle.session().mapped > 0);
        if (mapping.plan != session.plans() || session.needsResize())
            fail(Status::BadState, "tensor '%s' was resized while it was mapped: what was written is lost",
                 storageOf(handle).name.c_str());
        if (!(mapping.access & MNN_MAP_WRITE) || mapping.copy.empty()) return;
        Tensor& target = handle.session().impl->input(handle.index());
        store(target, mapping.copy.data(), HostBuffer(target, handle.type(), rowMajor(target)),
              rowMajor(target));
    });
}
