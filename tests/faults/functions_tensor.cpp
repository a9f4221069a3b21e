// Calls of the functions of tensors.
#include <unistd.h>

#include "functions.h"

namespace faults {
namespace {

// Reads in an order that is not the tensor's own, so that elements are converted in a copy.
mnn_status readAs(Scene& scene, const mnn_tensor_t* tensor) {
    size_t count = 0;
    MUST(mnn_tensor_element_count(tensor, &count));
    scene.result.assign(count * sizeof(double), 0);
    return mnn_tensor_read_as(tensor, scene.result.data(), scene.result.size(), MNN_TYPE_DOUBLE, MNN_FORMAT_NHWC);
}
mnn_status writeAs(mnn_tensor_t* tensor) {
    size_t count = 0;
    MUST(mnn_tensor_element_count(tensor, &count));
    const std::vector<double> values(count, 2);
    return mnn_tensor_write_as(tensor, values.data(), count * sizeof(double), MNN_TYPE_DOUBLE, MNN_FORMAT_NHWC);
}
mnn_status readHalves(Scene& scene) {
    size_t bytes = 0;
    MUST(mnn_tensor_byte_size(scene.output(), MNN_FORMAT_NHWC, &bytes));
    scene.result.assign(bytes, 0);
    return mnn_tensor_read(scene.output(), scene.result.data(), bytes, MNN_FORMAT_NHWC);
}
mnn_status write(Scene& scene) {
    size_t bytes = 0;
    MUST(mnn_tensor_byte_size(scene.input(), MNN_FORMAT_NC4HW4, &bytes));
    scene.memory.assign(bytes, 0);
    return mnn_tensor_write(scene.input(), scene.memory.data(), bytes, MNN_FORMAT_NC4HW4);
}
mnn_tensor_t* constantOf(Scene& scene) {
    const char* name = nullptr;
    mnn_tensor_t* tensor = nullptr;
    MUST(mnn_session_constant_name(scene.session, 3, &name));
    MUST(mnn_session_constant(scene.session, name, &tensor));
    return tensor;
}

mnn_status map(mnn_tensor_t* tensor, int32_t access) {
    void* data = nullptr;
    const mnn_status status = mnn_tensor_map(tensor, access, &data);
    return status == MNN_OK ? mnn_tensor_unmap(tensor) : status;
}
void mapped(Scene& scene) {
    halves(scene);
    void* data = nullptr;
    MUST(mnn_tensor_map(scene.input(), MNN_MAP_READ | MNN_MAP_WRITE, &data));
}

mnn_status buffer(Scene& scene) {
    auto found = sized<mnn_device_buffer_t>();
    found.kind = MNN_BUFFER_VULKAN;
    // The device is the library's own, so its buffers have no meaning for a host.
    return ends(mnn_tensor_device_buffer(scene.output(), &found), MNN_ERROR_NOT_SUPPORTED);
}

// Binds to memory of the device that has a descriptor; a session on the CPU has none.
void inDescriptor(Scene& scene) {
    ran(scene);
    if (forwardType == MNN_FORWARD_CPU) return;
    mnn_device_buffer_t made;
    MUST(mnn_device_buffer_init(&made, sizeof made));
    made.kind = MNN_BUFFER_OPAQUE_FD;
    made.allocate = 1;
    MUST(mnn_session_bind_output_buffer(scene.session, scene.output(), &made));
}
mnn_status descriptor(Scene& scene) {
    auto found = sized<mnn_device_buffer_t>();
    found.kind = MNN_BUFFER_OPAQUE_FD;
    const mnn_status status = mnn_tensor_device_buffer(scene.output(), &found);
    if (forwardType == MNN_FORWARD_CPU) return ends(status, MNN_ERROR_NOT_SUPPORTED);
    if (status == MNN_OK) {
        close(found.fd);
        MUST(mnn_session_bind_output_buffer(scene.session, scene.output(), nullptr));
    }
    return status;
}

}  // namespace

std::vector<Function> tensorFunctions() {
    return {
        {"mnn_tensor_shape", "", ran,
         [](Scene& s) {
             return filled<int32_t>(s.result, [&](int32_t* dims, size_t capacity, size_t* rank) {
                 return mnn_tensor_shape(s.output(), dims, capacity, rank);
             });
         }},
        {"mnn_tensor_nchw", "", ran,
         [](Scene& s) {
             int32_t nchw[4] = {};
             const mnn_status status = mnn_tensor_nchw(s.input(), nchw);
             return gives(s, status, nchw[1] * nchw[2] * nchw[3]);
         }},
        {"mnn_tensor_nchw", "of another rank", ran,
         [](Scene& s) {
             int32_t nchw[4] = {};
             return ends(mnn_tensor_nchw(s.output(), nchw), MNN_ERROR_BAD_STATE);
         }},
        {"mnn_tensor_info", "", ran,
         [](Scene& s) {
             auto info = sized<mnn_tensor_properties_t>();
             const mnn_status status = mnn_tensor_info(s.output(), &info);
             return gives(s, status, info);
         }},
        {"mnn_tensor_device_buffer", "", ran, buffer},
        {"mnn_tensor_device_buffer", "as a descriptor", inDescriptor, descriptor},
        {"mnn_tensor_print", "", ran,
         [](Scene& s) {
             return filled<char>(s.result, [&](char* text, size_t capacity, size_t* needed) {
                 return mnn_tensor_print(s.output(), 2, text, capacity, needed);
             });
         }},
        {"mnn_tensor_byte_size", "", ran,
         [](Scene& s) {
             size_t bytes = 0;
             const mnn_status status = mnn_tensor_byte_size(s.output(), MNN_FORMAT_NC4HW4, &bytes);
             return gives(s, status, bytes);
         }},
        {"mnn_tensor_write", "", ran, write},
        {"mnn_tensor_write", "of halves", halves, write},
        {"mnn_tensor_write_as", "", ran, [](Scene& s) { return writeAs(s.input()); }},
        {"mnn_tensor_write_as", "into a constant", constants, [](Scene& s) { return writeAs(constantOf(s)); }},
        {"mnn_tensor_read", "", ran,
         [](Scene& s) {
             s.result.assign(10 * sizeof(float), 0);
             return mnn_tensor_read(s.output(), s.result.data(), s.result.size(), MNN_FORMAT_NCHW);
         }},
        {"mnn_tensor_read", "of halves", halves, readHalves},
        {"mnn_tensor_read_as", "", ran, [](Scene& s) { return readAs(s, s.output()); }},
        {"mnn_tensor_read_as", "of an input", ran, [](Scene& s) { return readAs(s, s.input()); }},
        {"mnn_tensor_read_as", "of a constant", constants, [](Scene& s) { return readAs(s, constantOf(s)); }},
        {"mnn_tensor_read_as", "of halves", halves, [](Scene& s) { return readAs(s, s.output()); }},
        {"mnn_tensor_map", "", ran, [](Scene& s) { return map(s.output(), MNN_MAP_READ); }},
        {"mnn_tensor_map", "of halves", halves, [](Scene& s) { return map(s.input(), MNN_MAP_READ | MNN_MAP_WRITE); }},
        {"mnn_tensor_unmap", "", mapped, [](Scene& s) { return mnn_tensor_unmap(s.input()); }},
    };
}

}  // namespace faults
