// Shared by the tests of libmnn_c_image.
#pragma once
#include <mnn_c_image.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// The headers above come first.
#include <cmocka.h>

#define OK(call)                                                                               \
    do {                                                                                       \
        const mnn_status status_ = (call);                                                     \
        if (status_ != MNN_OK) fail_msg("%s: %d, %s", #call, status_, mnn_image_last_error()); \
    } while (0)

// The call fails with this status, and the sentence has this word.
#define FAILS(call, status, word)                                                              \
    do {                                                                                       \
        assert_int_equal(call, status);                                                        \
        if (!strstr(mnn_image_last_error(), word))                                             \
            fail_msg("%s: the sentence '%s' lacks '%s'", #call, mnn_image_last_error(), word); \
    } while (0)

static inline mnn_image_t picture(int32_t format, int32_t width, int32_t height, void* pixels, size_t bytes) {
    mnn_image_t image;
    OK(mnn_image_init(&image, sizeof image));
    image.format = format;
    image.width = width;
    image.height = height;
    image.pixels = pixels;
    image.bytes = bytes;
    return image;
}
