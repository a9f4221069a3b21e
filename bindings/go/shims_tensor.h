/* Tensors. */
#ifndef MNN_GO_SHIMS_TENSOR_H
#define MNN_GO_SHIMS_TENSOR_H

#include "shims_call.h"

MNN_GO_TEXT(mnn_tensor_name, (mnn_go_tensor tensor), TENSOR(tensor), &value)
MNN_GO_NUMBER(int32_t, mnn_tensor_type, (mnn_go_tensor tensor), TENSOR(tensor), &value)
MNN_GO_NUMBER(int32_t, mnn_tensor_format, (mnn_go_tensor tensor), TENSOR(tensor), &value)
MNN_GO_NUMBER(size_t, mnn_tensor_element_count, (mnn_go_tensor tensor), TENSOR(tensor), &value)
MNN_GO_NUMBER(size_t, mnn_tensor_byte_size, (mnn_go_tensor tensor, int32_t format), TENSOR(tensor), format,
              &value)
MNN_GO_CALL(mnn_tensor_write, (mnn_go_tensor tensor, const uint8_t* data, size_t bytes, int32_t format),
            TENSOR(tensor), data, bytes, format)
MNN_GO_CALL(mnn_tensor_write_as,
            (mnn_go_tensor tensor, const uint8_t* data, size_t bytes, int32_t type, int32_t format),
            TENSOR(tensor), data, bytes, type, format)
MNN_GO_CALL(mnn_tensor_read_as,
            (mnn_go_tensor tensor, uint8_t* buffer, size_t bytes, int32_t type, int32_t format),
            TENSOR(tensor), buffer, bytes, type, format)
MNN_GO_CALL(mnn_tensor_read, (mnn_go_tensor tensor, uint8_t* buffer, size_t bytes, int32_t format),
            TENSOR(tensor), buffer, bytes, format)

/* number: the size, the terminating zero included. */
MNN_GO_NUMBER(size_t, mnn_tensor_print, (mnn_go_tensor tensor, size_t edge, char* buffer, size_t capacity),
              TENSOR(tensor), edge, buffer, capacity, &value)

/* dims: batch, channel, height and width. */
static inline mnn_go_shape go_mnn_tensor_nchw(mnn_go_tensor tensor) {
    mnn_go_shape shape = {0};
    shape.result = mnn_go_finish(mnn_tensor_nchw(TENSOR(tensor), shape.dims));
    shape.result.number = 4;
    return shape;
}

static inline mnn_go_shape go_mnn_tensor_shape(mnn_go_tensor tensor) {
    mnn_go_shape shape = {0};
    size_t rank = 0;
    shape.result = mnn_go_finish(mnn_tensor_shape(TENSOR(tensor), shape.dims, MNN_MAX_RANK, &rank));
    shape.result.number = rank;
    return shape;
}

MNN_GO_STRUCT(mnn_go_tensor_properties, mnn_tensor_properties_t)
MNN_GO_FILL(mnn_go_tensor_properties, mnn_tensor_info, (mnn_go_tensor tensor), TENSOR(tensor), &filled.info)

MNN_GO_STRUCT(mnn_go_device_buffer, mnn_device_buffer_t)

static inline mnn_go_device_buffer go_mnn_tensor_device_buffer(mnn_go_tensor tensor, int32_t kind) {
    mnn_go_device_buffer found = {.info.struct_size = sizeof found.info, .info.kind = kind};
    found.result = mnn_go_finish(mnn_tensor_device_buffer(TENSOR(tensor), &found.info));
    return found;
}

#endif
