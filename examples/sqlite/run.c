/* Runs a model on one row. */
#include "run.h"

#include <stdio.h>

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3

enum { NO_EXTENT = -1 };

static size_t element_bytes(int32_t type) {
    switch (type) {
        case MNN_TYPE_UINT8:
        case MNN_TYPE_INT8:
            return 1;
        case MNN_TYPE_INT16:
        case MNN_TYPE_UINT16:
        case MNN_TYPE_FLOAT16:
        case MNN_TYPE_BFLOAT16:
            return 2;
        default:
            return 4;
    }
}

/* Writes a text such as "1x3x?x?" or "a scalar". */
static void describe(const net_t* net, char* text, size_t size) {
    size_t used = 0;
    snprintf(text, size, "a scalar"); /* replaced when there is an extent */
    for (size_t i = 0; i < net->rank && used < size; i++) {
        if (net->dims[i] < 0)
            used += (size_t)snprintf(text + used, size - used, i ? "x?" : "?");
        else
            used += (size_t)snprintf(text + used, size - used, i ? "x%d" : "%d", (int)net->dims[i]);
    }
}

/* Finds the open extent from the size of the blob. */
static bool find_free_extent(const net_t* net, int* at, failure_t* failure) {
    *at = net->rank > 1 && net->dims[0] == 1 ? 0 : NO_EXTENT;
    int open = 0;
    for (size_t i = 0; i < net->rank; i++)
        if (net->dims[i] < 0) {
            *at = (int)i;
            open++;
        }
    if (open <= 1) return true;
    char shape[128];
    describe(net, shape, sizeof shape);
    return fail(failure, "input '%s' is %s: more than one extent is open", net->input_name, shape);
}

/* Computes the input's shape for a blob. */
static bool fit(const net_t* net, size_t bytes, int32_t* dims, failure_t* failure) {
    int at = NO_EXTENT;
    if (!find_free_extent(net, &at, failure)) return false;
    size_t unit = element_bytes(net->type);
    for (size_t i = 0; i < net->rank; i++) {
        dims[i] = net->dims[i];
        if ((int)i == at) continue;
        const size_t extent = (size_t)dims[i];
        unit = extent > 0 && unit > SIZE_MAX / extent ? SIZE_MAX : unit * extent;
    }
    if (at == NO_EXTENT ? bytes == unit : unit > 0 && bytes > 0 && bytes % unit == 0 && bytes / unit <= INT32_MAX) {
        if (at != NO_EXTENT) dims[at] = (int32_t)(bytes / unit);
        return true;
    }
    char shape[128];
    describe(net, shape, sizeof shape);
    return fail(failure, "input '%s' is %s, %zu bytes an element: it takes %s%zu bytes, the blob has %zu",
                net->input_name, shape, element_bytes(net->type), at == NO_EXTENT ? "" : "a multiple of ", unit, bytes);
}

/* Reads the type of a tensor's elements, and the order of its shape. */
static bool describe_tensor(const mnn_tensor_t* tensor, int32_t* type, int32_t* format, failure_t* failure) {
    mnn_tensor_properties_t info = {.struct_size = sizeof info};
    if (!succeeded(mnn_tensor_info(tensor, &info), failure)) return false;
    *type = info.type;
    *format = info.format == MNN_FORMAT_NHWC ? MNN_FORMAT_NHWC : MNN_FORMAT_NCHW;
    return true;
}

static bool feed_and_run(net_t* net, const void* blob, size_t bytes, const int32_t* dims, failure_t* failure) {
    int32_t type = 0, format = 0;
    return succeeded(mnn_session_resize_input(net->session, net->input, dims, net->rank), failure) &&
           succeeded(mnn_session_resize(net->session), failure) &&
           describe_tensor(net->input, &type, &format, failure) &&
           succeeded(mnn_tensor_write(net->input, blob, bytes, format), failure) &&
           succeeded(mnn_session_run(net->session), failure);
}

static bool fetch(const net_t* net, const int32_t* dims, const char* name, result_t* result, failure_t* failure) {
    mnn_tensor_t* output = NULL;
    int32_t format = 0, shape[MNN_MAX_RANK];
    size_t rank = 0;
    if (!succeeded(mnn_session_output(net->session, name, &output), failure) ||
        !describe_tensor(output, &result->type, &format, failure) ||
        !succeeded(mnn_tensor_shape(output, shape, MNN_MAX_RANK, &rank), failure) ||
        !succeeded(mnn_tensor_element_count(output, &result->elements), failure) ||
        !succeeded(mnn_tensor_byte_size(output, format, &result->bytes), failure))
        return false;
    result->items = net->rank > 1 && rank > 1 && shape[0] == dims[0] && dims[0] > 0 ? (size_t)dims[0] : 1;
    result->data = sqlite3_malloc64(result->bytes > 0 ? result->bytes : 1);
    if (!result->data) return fail_out_of_memory(failure);
    if (succeeded(mnn_tensor_read(output, result->data, result->bytes, format), failure)) return true;
    sqlite3_free(result->data);
    return false;
}

bool run_model(nets_t* nets, const char* path, const void* blob, size_t bytes, const char* output, result_t* result,
               failure_t* failure) {
    int32_t dims[MNN_MAX_RANK];
    net_t* net = NULL;
    return nets_find(nets, path, &net, failure) && fit(net, bytes, dims, failure) &&
           feed_and_run(net, blob, bytes, dims, failure) && fetch(net, dims, output, result, failure);
}
