/*
 * The functions that Go calls. As in the package mnn, each makes one call and returns the error sentence with its
 * status, because the library keeps it for the thread only. Memory of Go is a separate argument, because a struct that
 * points to memory of Go cannot be passed to C.
 */
#ifndef MNN_GO_IMAGE_SHIMS_H
#define MNN_GO_IMAGE_SHIMS_H

#include <mnn_c_image.h>
#include <stdlib.h>
#include <string.h>

typedef struct mnn_go_result {
    mnn_status status;
    char* sentence; /* of a failure; Go frees it. NULL on MNN_OK, or when there is no memory for it */
    size_t number;  /* a size, or an offset */
} mnn_go_result;

/* A picture without its pixels. */
typedef struct mnn_go_image {
    int32_t format, width, height;
    size_t stride, bytes;
} mnn_go_image;

typedef struct mnn_go_values {
    int32_t format, width, height, type, layout;
    size_t bytes;
} mnn_go_values;

static inline mnn_go_result mnn_go_finish(mnn_status status, size_t number) {
    mnn_go_result result = {status, NULL, number};
    if (status != MNN_OK) {
        const char* sentence = mnn_image_last_error();
        const size_t size = strlen(sentence) + 1;
        result.sentence = malloc(size);
        if (result.sentence) memcpy(result.sentence, sentence, size);
    }
    return result;
}

static inline mnn_status mnn_go_picture(mnn_go_image from, const void* pixels, mnn_image_t* image) {
    const mnn_status status = mnn_image_init(image, sizeof *image);
    if (status != MNN_OK) return status;
    image->format = from.format;
    image->width = from.width;
    image->height = from.height;
    image->stride = from.stride;
    image->pixels = (void*)pixels; /* functions do not write the pixels of their source */
    image->bytes = from.bytes;
    return MNN_OK;
}

static inline mnn_go_image mnn_go_described(const mnn_image_t* image) {
    const mnn_go_image result = {image->format, image->width, image->height, image->stride, image->bytes};
    return result;
}

/* A file without bytes has no address in Go. */
static inline const void* mnn_go_file(const uint8_t* file) {
    return file ? (const void*)file : "";
}

static inline mnn_go_result go_mnn_image_byte_size(mnn_go_image from) {
    mnn_image_t image;
    size_t bytes = 0;
    mnn_status status = mnn_go_picture(from, NULL, &image);
    if (status == MNN_OK) status = mnn_image_byte_size(&image, &bytes);
    return mnn_go_finish(status, bytes);
}

static inline mnn_go_result go_mnn_image_info(const uint8_t* file, size_t bytes, mnn_go_image* found) {
    mnn_image_t image;
    mnn_status status = mnn_image_init(&image, sizeof image);
    if (status == MNN_OK) status = mnn_image_info(mnn_go_file(file), bytes, &image);
    if (status == MNN_OK) *found = mnn_go_described(&image);
    return mnn_go_finish(status, 0);
}

static inline mnn_go_result go_mnn_image_decode(const uint8_t* file, size_t bytes, mnn_go_image to, uint8_t* pixels) {
    mnn_image_t image;
    mnn_status status = mnn_go_picture(to, pixels, &image);
    if (status == MNN_OK) status = mnn_image_decode(mnn_go_file(file), bytes, &image);
    return mnn_go_finish(status, 0);
}

static inline mnn_go_result go_mnn_image_encode_png(mnn_go_image from, const uint8_t* pixels, uint8_t* buffer,
                                                    size_t capacity) {
    mnn_image_t image;
    size_t needed = 0;
    mnn_status status = mnn_go_picture(from, pixels, &image);
    if (status == MNN_OK) status = mnn_image_encode_png(&image, buffer, capacity, &needed);
    return mnn_go_finish(status, needed);
}

/* `number` in the result is the offset of the part in the pixels. */
static inline mnn_go_result go_mnn_image_crop(mnn_go_image from, const uint8_t* pixels, int32_t x, int32_t y,
                                              int32_t width, int32_t height, mnn_go_image* part) {
    mnn_image_t image, view;
    size_t offset = 0;
    mnn_status status = mnn_go_picture(from, pixels, &image);
    if (status == MNN_OK) {
        view = image;
        status = mnn_image_crop(&image, x, y, width, height, &view);
    }
    if (status == MNN_OK) {
        *part = mnn_go_described(&view);
        offset = (size_t)((const uint8_t*)view.pixels - pixels);
    }
    return mnn_go_finish(status, offset);
}

static inline mnn_go_result go_mnn_image_resize(mnn_go_image from, const uint8_t* from_pixels, mnn_go_image to,
                                                uint8_t* to_pixels) {
    mnn_image_t source, target;
    mnn_status status = mnn_go_picture(from, from_pixels, &source);
    if (status == MNN_OK) status = mnn_go_picture(to, to_pixels, &target);
    if (status == MNN_OK) status = mnn_image_resize(&source, &target);
    return mnn_go_finish(status, 0);
}

/* `options` may lie in memory of Go, because the struct has no pointers. */
static inline mnn_go_result go_mnn_image_convert(const mnn_image_options_t* options, mnn_go_image from,
                                                 const uint8_t* pixels, mnn_go_values to, uint8_t* data) {
    mnn_image_t source;
    mnn_image_values_t values;
    mnn_status status = mnn_go_picture(from, pixels, &source);
    if (status == MNN_OK) status = mnn_image_values_init(&values, sizeof values);
    if (status == MNN_OK) {
        values.format = to.format;
        values.width = to.width;
        values.height = to.height;
        values.type = to.type;
        values.layout = to.layout;
        values.data = data;
        values.bytes = to.bytes;
        status = mnn_image_convert(options, &source, &values);
    }
    return mnn_go_finish(status, 0);
}

static inline mnn_go_result go_mnn_image_detector_init(mnn_image_detector_t* detector) {
    return mnn_go_finish(mnn_image_detector_init(detector, sizeof *detector), 0);
}

/* `number` in the result is the count of numbers that describe the boxes. */
static inline mnn_go_result go_mnn_image_boxes(const mnn_image_detector_t* detector, const float* boxes,
                                               const float* scores, const float* classes, double* numbers,
                                               size_t capacity) {
    size_t needed = 0;
    const mnn_status status = mnn_image_boxes(detector, boxes, scores, classes, numbers, capacity, &needed);
    return mnn_go_finish(status, needed);
}

static inline mnn_go_result go_mnn_image_options_init(mnn_image_options_t* options) {
    return mnn_go_finish(mnn_image_options_init(options, sizeof *options), 0);
}

#endif
