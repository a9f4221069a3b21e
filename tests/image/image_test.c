// Files, views, resizing and conversions of libmnn_c_image, against formulas; and wrong arguments.
#include <math.h>

#include "support.h"

static const char kGray[] = "P5 3 2 255\n\x00\x10\x20\x30\x40\xff";
static const char kColour[] = "P6 2 1 255\n\x0a\x14\x1e\xff\x80\x00";

static void files_are_decoded_into_every_format(void** state) {
    (void)state;
    mnn_image_t image;
    OK(mnn_image_init(&image, sizeof image));
    OK(mnn_image_info(kColour, sizeof kColour - 1, &image));
    assert_int_equal(image.format, MNN_IMAGE_RGB);
    assert_int_equal(image.width, 2);
    assert_int_equal(image.height, 1);
    assert_int_equal(image.bytes, 6);
    const uint8_t wanted[][8] = {{10, 20, 30, 255, 255, 128, 0, 255},
                                 {10, 20, 30, 255, 128, 0},
                                 {30, 20, 10, 0, 128, 255},
                                 {(10 * 77 + 20 * 150 + 30 * 29) >> 8, (255 * 77 + 128 * 150) >> 8},
                                 {30, 20, 10, 255, 0, 128, 255, 255}};
    const size_t bytes[] = {8, 6, 6, 2, 8};
    for (int32_t format = MNN_IMAGE_RGBA; format <= MNN_IMAGE_BGRA; ++format) {
        uint8_t pixels[9] = {0, 0, 0, 0, 0, 0, 0, 0, 99};
        mnn_image_t to = picture(format, 2, 1, pixels, bytes[format]);
        OK(mnn_image_decode(kColour, sizeof kColour - 1, &to));
        assert_memory_equal(pixels, wanted[format], bytes[format]);
        assert_int_equal(pixels[8], 99);
        to.bytes--;
        FAILS(mnn_image_decode(kColour, sizeof kColour - 1, &to), MNN_ERROR_BUFFER_TOO_SMALL, "memory has");
    }
    uint8_t rows[2][5] = {{0}};
    mnn_image_t strided = picture(MNN_IMAGE_GRAY, 3, 2, rows, sizeof rows);
    strided.stride = sizeof rows[0];
    OK(mnn_image_decode(kGray, sizeof kGray - 1, &strided));
    assert_memory_equal(rows, "\x00\x10\x20\x00\x00\x30\x40\xff\x00\x00", sizeof rows);
}

static void a_png_file_has_the_pixels_that_were_written(void** state) {
    (void)state;
    for (int32_t format = MNN_IMAGE_RGBA; format <= MNN_IMAGE_BGRA; ++format) {
        uint8_t pixels[5 * 4 * 4], again[sizeof pixels];
        for (size_t i = 0; i < sizeof pixels; ++i) pixels[i] = (uint8_t)(i * 37 + (size_t)format);
        memset(again, 0, sizeof again);
        mnn_image_t image = picture(format, 5, 4, pixels, sizeof pixels);
        size_t needed = 0;
        OK(mnn_image_encode_png(&image, NULL, 0, &needed));
        uint8_t* file = malloc(needed);
        assert_non_null(file);
        FAILS(mnn_image_encode_png(&image, file, needed - 1, &needed), MNN_ERROR_BUFFER_TOO_SMALL, "PNG");
        OK(mnn_image_encode_png(&image, file, needed, &needed));
        mnn_image_t to = picture(format, 5, 4, again, sizeof again);
        OK(mnn_image_decode(file, needed, &to));
        size_t bytes = 0;
        OK(mnn_image_byte_size(&image, &bytes));
        assert_memory_equal(pixels, again, bytes);
        for (size_t cut = 0; cut + 13 < needed; ++cut)  // the end mark follows, which no decoder needs
            assert_int_not_equal(mnn_image_decode(file, cut, &to), MNN_OK);
        free(file);
    }
}

/* A white picture of one bit per pixel: 8000 pixels for each byte of the file. */
static void a_blank_page_is_decoded(void** state) {
    (void)state;
    enum { EXTENT = 1100, BEGIN = 41, FIRST = 21, REPEATED = 592, LAST = 6, FILE_BYTES = 676 };
    static const uint8_t begin[] =
        "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x04\x4c\0\0\x04\x4c\x01\0\0\0\0\0\0\0\0\0\0\x02\x6bIDAT";
    static const uint8_t first[] = "\x78\xda\xed\xce\x31\x01\0\0\x0c\x02\x20\xfb\x97\xd6\x04\xfb\x77\x40\x02\xd2\x37";
    static const uint8_t last[] = "\x72\x19\xf5\x3c\xc9\x9b\0\0\0\0\0\0\0\0IEND\0\0\0\0";
    uint8_t file[FILE_BYTES];
    memcpy(file, begin, BEGIN);
    memcpy(file + BEGIN, first, FIRST);
    memset(file + BEGIN + FIRST, 0xa2, REPEATED);
    memcpy(file + BEGIN + FIRST + REPEATED, last, LAST + 16);
    uint8_t* pixels = calloc(EXTENT, EXTENT);
    assert_non_null(pixels);
    mnn_image_t image = picture(MNN_IMAGE_GRAY, EXTENT, EXTENT, pixels, (size_t)EXTENT * EXTENT);
    OK(mnn_image_decode(file, sizeof file, &image));
    for (size_t i = 0; i < (size_t)EXTENT * EXTENT; ++i) assert_int_equal(pixels[i], 255);
    free(pixels);
    file[17] = 1; /* 65536 more columns */
    FAILS(mnn_image_decode(file, sizeof file, &image), MNN_ERROR_TRUNCATED, "too few");
}

static void damaged_files_are_refused(void** state) {
    (void)state;
    mnn_image_t image;
    OK(mnn_image_init(&image, sizeof image));
    const mnn_image_t before = image;
    FAILS(mnn_image_info("no picture at all", 17, &image), MNN_ERROR_BAD_FORMAT, "no picture");
    FAILS(mnn_image_info("", 0, &image), MNN_ERROR_BAD_FORMAT, "no picture");
    FAILS(mnn_image_info("P5 70000 1 255\n", 15, &image), MNN_ERROR_LIMIT_EXCEEDED, "65535");
    FAILS(mnn_image_info("P5 60000 60000 255\n", 19, &image), MNN_ERROR_LIMIT_EXCEEDED, "pixels");
    FAILS(mnn_image_info("P5 3", 4, &image), MNN_ERROR_TRUNCATED, "height");
    assert_memory_equal(&image, &before, sizeof image);
    uint8_t pixels[6];
    mnn_image_t to = picture(MNN_IMAGE_GRAY, 3, 2, pixels, sizeof pixels);
    FAILS(mnn_image_decode(kGray, sizeof kGray - 2, &to), MNN_ERROR_TRUNCATED, "end after");
    to.width = 2;
    FAILS(mnn_image_decode(kGray, sizeof kGray - 1, &to), MNN_ERROR_COMPUTE_SIZE, "3x2");
    to.format = MNN_IMAGE_NV12;
    FAILS(mnn_image_decode(kGray, sizeof kGray - 1, &to), MNN_ERROR_NOT_SUPPORTED, "YUV");
}

// Appends a segment of a JPEG file; returns the bytes of the file.
static size_t with_segment(uint8_t* file, size_t at, uint8_t marker, const void* content, size_t bytes) {
    const uint8_t begin[] = {0xff, marker, (uint8_t)((bytes + 2) >> 8), (uint8_t)(bytes + 2)};
    memcpy(file + at, begin, sizeof begin);
    memcpy(file + at + sizeof begin, content, bytes);
    return at + sizeof begin + bytes;
}

// Their decoder would return zeros, or old contents of its memory, or compute the whole picture for each of thousands
// of scans.
static void incomplete_files_are_refused(void** state) {
    (void)state;
    uint8_t pixels[4] = {0}, tga[18 + 4] = {0, 0, 3};  // type 3: gray, not compressed
    tga[12] = tga[14] = 2;
    tga[16] = 8;
    memcpy(tga + 18, "\x01\x02\x03\x04", 4);
    mnn_image_t image = picture(MNN_IMAGE_GRAY, 2, 2, pixels, sizeof pixels);
    OK(mnn_image_decode(tga, sizeof tga, &image));
    assert_memory_equal(pixels, "\x03\x04\x01\x02", 4);  // the lowest row is the first one of the file
    FAILS(mnn_image_decode(tga, sizeof tga - 1, &image), MNN_ERROR_TRUNCATED, "too few");
    // The same picture in packets: two equal pixels, and two that follow one another.
    tga[2] = 11;
    uint8_t packets[18 + 5];
    memcpy(packets, tga, 18);
    memcpy(packets + 18, "\x81\x05\x01\x06\x07", 5);
    OK(mnn_image_decode(packets, sizeof packets, &image));
    assert_memory_equal(pixels, "\x06\x07\x05\x05", 4);
    for (size_t cut = 1; cut <= 5; ++cut)
        FAILS(mnn_image_decode(packets, sizeof packets - cut, &image), MNN_ERROR_TRUNCATED, "too few");
    // Two colours for the same picture, which begin at 0 or at another number.
    uint8_t indexed[18 + 6 + 4] = {0, 1, 1, [5] = 2, [7] = 24, [12] = 2, [14] = 2, [16] = 8};
    memcpy(indexed + 18, "\x09\x09\x09\x05\x05\x05\0\x01\x01\0", 10);
    OK(mnn_image_decode(indexed, sizeof indexed, &image));
    assert_memory_equal(pixels, "\x05\x09\x09\x05", 4);
    FAILS(mnn_image_decode(indexed, sizeof indexed - 1, &image), MNN_ERROR_TRUNCATED, "too few");
    indexed[3] = 1;
    FAILS(mnn_image_decode(indexed, sizeof indexed, &image), MNN_ERROR_BAD_FORMAT, "begin at 0");
    // Colour 0 of a table of four, in codes of 9 bits.
    static const uint8_t gif[] =
        "GIF87a\2\0\2\0\x81\0\0\7\7\7\0\0\0\0\0\0\0\0\0\x2c\0\0\0\0\2\0\2\0\0\x08\6\0\1\x08\4\x10\x10\0\x3b";
    OK(mnn_image_decode(gif, sizeof gif - 1, &image));
    assert_memory_equal(pixels, "\7\7\7\7", 4);
    for (size_t cut = 2; cut <= 10; ++cut)
        FAILS(mnn_image_decode(gif, sizeof gif - 1 - cut, &image), MNN_ERROR_TRUNCATED, "too few");
    // Colours of 24 bits, in rows of 8 bytes.
    uint8_t bmp[54 + 14] = {'B', 'M', [10] = 54, [14] = 40, [18] = 2, [22] = 2, [26] = 1, [28] = 24};
    memset(bmp + 54, 9, 14);
    OK(mnn_image_decode(bmp, sizeof bmp, &image));
    assert_memory_equal(pixels, "\x09\x09\x09\x09", 4);
    for (size_t cut = 1; cut <= 14; ++cut)
        FAILS(mnn_image_decode(bmp, sizeof bmp - cut, &image), MNN_ERROR_TRUNCATED, "too few");

    enum { FILE_BYTES = 70000, EXTENT = 8192 };
    uint8_t* const jpeg = calloc(1, FILE_BYTES);
    assert_non_null(jpeg);
    const uint8_t frame[] = {8, EXTENT >> 8, 0, EXTENT >> 8, 0, 1, 1, 0x11, 0};
    const uint8_t tables[2 * 18] = {0, 1, [18] = 0x10, 1}, scan[] = {1, 1, 0, 0, 63, 0};
    memcpy(jpeg, "\xff\xd8", 2);
    size_t end = with_segment(jpeg, 2, 0xc0, frame, sizeof frame);
    end = with_segment(jpeg, end, 0xc4, tables, sizeof tables);
    memcpy(jpeg + end, "\xff\xd9", 2);
    FAILS(mnn_image_info(jpeg, FILE_BYTES, &image), MNN_ERROR_BAD_FORMAT, "in no scan");
    for (int i = 0; i < 65; ++i) end = with_segment(jpeg, end, 0xda, scan, sizeof scan) + 1;
    memcpy(jpeg + end, "\xff\xd9", 2);
    FAILS(mnn_image_info(jpeg, FILE_BYTES, &image), MNN_ERROR_BAD_FORMAT, "more scans");
    // A column of pixels is computed in units of 32 x 32.
    memcpy(jpeg + 7, "\xff\xff\0\x01", 4);
    for (int i = 0; i < 1024; ++i) end = with_segment(jpeg, end, 0xda, scan, sizeof scan) + 1;
    memcpy(jpeg + end, "\xff\xd9", 2);
    FAILS(mnn_image_info(jpeg, FILE_BYTES, &image), MNN_ERROR_BAD_FORMAT, "more scans");
    free(jpeg);
}

static void sizes_count_strides_and_planes(void** state) {
    (void)state;
    const struct {
        int32_t format;
        size_t stride, bytes;
    } rows[] = {{MNN_IMAGE_RGBA, 0, 60},      {MNN_IMAGE_RGB, 20, 55},      {MNN_IMAGE_GRAY, 7, 19},
                {MNN_IMAGE_NV12, 0, 15 + 12}, {MNN_IMAGE_I420, 0, 15 + 12}, {MNN_IMAGE_NV21, 8, 24 + 16},
                {MNN_IMAGE_I420, 8, 24 + 16}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        mnn_image_t image = picture(rows[i].format, 5, 3, NULL, 0);
        image.stride = rows[i].stride;
        size_t bytes = 0;
        OK(mnn_image_byte_size(&image, &bytes));
        assert_int_equal(bytes, rows[i].bytes);
    }
    size_t bytes = 7;
    mnn_image_t image = picture(5, 5, 3, NULL, 0);
    FAILS(mnn_image_byte_size(&image, &bytes), MNN_ERROR_INVALID_VALUE, "format 5");
    image.format = MNN_IMAGE_RGB;
    image.stride = 14;
    FAILS(mnn_image_byte_size(&image, &bytes), MNN_ERROR_BAD_RANGE, "stride");
    image.stride = (size_t)-1;
    FAILS(mnn_image_byte_size(&image, &bytes), MNN_ERROR_BAD_RANGE, "stride");
    image.stride = 0;
    const int32_t wrong[] = {0, -1, INT32_MIN, INT32_MAX, MNN_IMAGE_MAX_EXTENT + 1};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        image.width = wrong[i];
        FAILS(mnn_image_byte_size(&image, &bytes), MNN_ERROR_BAD_RANGE, "extents");
        image.width = 5;
        image.height = wrong[i];
        FAILS(mnn_image_byte_size(&image, &bytes), MNN_ERROR_BAD_RANGE, "extents");
        image.height = 3;
    }
    assert_int_equal(bytes, 7);
    image.struct_size = 8;
    FAILS(mnn_image_byte_size(&image, &bytes), MNN_ERROR_VERSION_MISMATCH, "struct_size");
    FAILS(mnn_image_byte_size(NULL, &bytes), MNN_ERROR_NULL_ARGUMENT, "image");
}

static void a_view_is_a_part(void** state) {
    (void)state;
    uint8_t pixels[4][6][3], taken[2][3][3];
    for (size_t i = 0; i < sizeof pixels; ++i) (&pixels[0][0][0])[i] = (uint8_t)i;
    const mnn_image_t whole = picture(MNN_IMAGE_RGB, 6, 4, pixels, sizeof pixels);
    mnn_image_t part;
    OK(mnn_image_init(&part, sizeof part));
    OK(mnn_image_crop(&whole, 3, 2, 3, 2, &part));
    assert_ptr_equal(part.pixels, pixels[2][3]);
    mnn_image_values_t values;
    OK(mnn_image_values_init(&values, sizeof values));
    values.format = MNN_IMAGE_RGB;
    values.width = 3;
    values.height = 2;
    values.type = MNN_TYPE_UINT8;
    values.layout = MNN_FORMAT_NHWC;
    values.data = taken;
    values.bytes = sizeof taken;
    OK(mnn_image_convert(NULL, &part, &values));
    for (int y = 0; y < 2; ++y) assert_memory_equal(taken[y], pixels[2 + y][3], sizeof taken[y]);
    OK(mnn_image_crop(&part, 2, 1, 1, 1, &part));  // a view of a view, in place
    assert_ptr_equal(part.pixels, pixels[3][5]);
    const int32_t wrong[][4] = {{-1, 0, 1, 1},
                                {0, -1, 1, 1},
                                {0, 0, 0, 1},
                                {0, 0, 1, 0},
                                {4, 0, 3, 1},
                                {0, 3, 1, 2},
                                {INT32_MAX, 0, INT32_MAX, 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        FAILS(mnn_image_crop(&whole, wrong[i][0], wrong[i][1], wrong[i][2], wrong[i][3], &part), MNN_ERROR_BAD_RANGE,
              "inside of 6 x 4");
}

static void resizing_keeps_an_even_picture_and_averages(void** state) {
    (void)state;
    uint8_t even[9 * 7 * 4], larger[20 * 3 * 4], halves[8] = {0, 0, 0, 0, 200, 200, 200, 200}, one[1] = {0};
    memset(even, 91, sizeof even);
    const mnn_image_t from = picture(MNN_IMAGE_BGRA, 9, 7, even, sizeof even);
    mnn_image_t to = picture(MNN_IMAGE_BGRA, 20, 3, larger, sizeof larger);
    OK(mnn_image_resize(&from, &to));
    for (size_t i = 0; i < sizeof larger; ++i) assert_int_equal(larger[i], 91);
    uint8_t again[sizeof even];
    for (size_t i = 0; i < sizeof even; ++i) even[i] = (uint8_t)(i * 91);
    mnn_image_t equal = picture(MNN_IMAGE_BGRA, 9, 7, again, sizeof again);
    OK(mnn_image_resize(&from, &equal));
    assert_memory_equal(even, again, sizeof even);
    const mnn_image_t line = picture(MNN_IMAGE_GRAY, 8, 1, halves, sizeof halves);
    mnn_image_t dot = picture(MNN_IMAGE_GRAY, 1, 1, one, sizeof one);
    OK(mnn_image_resize(&line, &dot));
    assert_in_range(one[0], 99, 101);
    uint8_t* const column = calloc(1, 4097);  // ceil(4 * 4097 / 1) rows of 65535 floats are more than 2^32 bytes
    uint8_t* const wide = calloc(1, 65535);
    assert_true(column && wide);
    const mnn_image_t high = picture(MNN_IMAGE_GRAY, 1, 4097, column, 4097);
    const mnn_image_t low = picture(MNN_IMAGE_GRAY, 65535, 1, wide, 65535);
    FAILS(mnn_image_resize(&high, &low), MNN_ERROR_LIMIT_EXCEEDED, "4097 rows to 1");
    free(wide);
    free(column);
    FAILS(mnn_image_resize(&line, &to), MNN_ERROR_BAD_TYPE, "format");
    to.bytes--;
    FAILS(mnn_image_resize(&from, &to), MNN_ERROR_BUFFER_TOO_SMALL, "target");
}

// Most of the memory is never touched, so that it takes addresses only.
static void rows_may_lie_far_apart(void** state) {
    (void)state;
#if SIZE_MAX <= UINT32_MAX
    skip();
#else
    const size_t stride = (size_t)1 << 30;
    uint8_t* const pixels = calloc(2 * stride + 2, 1);
    if (!pixels) skip();
    uint8_t even[3 * 4];
    memset(even, 91, sizeof even);
    const mnn_image_t from = picture(MNN_IMAGE_GRAY, 3, 4, even, sizeof even);
    mnn_image_t to = picture(MNN_IMAGE_GRAY, 2, 3, pixels, 2 * stride + 2);
    to.stride = stride;
    OK(mnn_image_resize(&from, &to));
    for (size_t y = 0; y < 3; ++y)
        for (size_t x = 0; x < 2; ++x) assert_int_equal(pixels[y * stride + x], 91);
    free(pixels);
#endif
}

// Computes one row of `count` values of a gray picture, sampled from `start` on in steps of `step`.
static void sampled(uint8_t* row, int32_t width, int32_t filter, int32_t wrap, float start, float step, uint8_t* to,
                    int32_t count) {
    const mnn_image_t image = picture(MNN_IMAGE_GRAY, width, 1, row, (size_t)width);
    mnn_image_options_t options;
    OK(mnn_image_options_init(&options, sizeof options));
    options.filter = filter;
    options.wrap = wrap;
    options.has_matrix = 1;
    const float matrix[6] = {step, 0, start, 0, 1, 0};
    memcpy(options.matrix, matrix, sizeof matrix);
    mnn_image_values_t values;
    OK(mnn_image_values_init(&values, sizeof values));
    values.format = MNN_IMAGE_GRAY;
    values.width = count;
    values.height = 1;
    values.type = MNN_TYPE_UINT8;
    values.data = to;
    values.bytes = (size_t)count;
    OK(mnn_image_convert(&options, &image, &values));
}

static double cubic(double t) {  // Keys's kernel with a = -1/2
    t = fabs(t);
    if (t <= 1) return 1.5 * t * t * t - 2.5 * t * t + 1;
    return t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2 : 0;
}

static void pictures_repeat_and_cubic_samples_follow_the_kernel(void** state) {
    (void)state;
    uint8_t row[5] = {10, 250, 40, 90, 200}, to[40];
    sampled(row, 5, MNN_IMAGE_NEAREST, MNN_IMAGE_REPEAT, -7, 1, to, 20);
    for (int i = 0; i < 20; ++i) assert_int_equal(to[i], row[(i + 8) % 5]);
    sampled(row, 5, MNN_IMAGE_BILINEAR, MNN_IMAGE_REPEAT, 4.5F, 5, to, 3);
    for (int i = 0; i < 3; ++i) assert_int_equal(to[i], (200 + 10) / 2);
    for (int wrap = MNN_IMAGE_CLAMP; wrap <= MNN_IMAGE_REPEAT; wrap += MNN_IMAGE_REPEAT) {
        sampled(row, 5, MNN_IMAGE_BICUBIC, wrap, 0, 0.125F, to, 33);
        for (int i = 0; i < 33; ++i) {
            const double at = i * 0.125;
            double sum = 0;
            for (int tap = (int)at - 1; tap <= (int)at + 2; ++tap) {
                const int near = tap < 0 ? 0 : tap > 4 ? 4 : tap;
                sum += cubic(at - tap) * row[wrap == MNN_IMAGE_CLAMP ? near : (tap + 5) % 5];
            }
            const double limited = sum < 0 ? 0 : sum > 255 ? 255 : sum;
            assert_true(fabs(to[i] - limited) <= 0.501);
        }
    }
    const float far[] = {1e17F, -1e19F, 1e24F, 1e30F, -1e30F, 3e38F};
    uint8_t wide[40] = {0};
    for (int32_t width = 1; width <= 40; ++width)
        for (int i = 0; i < 6; ++i)
            for (int filter = MNN_IMAGE_NEAREST; filter <= MNN_IMAGE_BICUBIC; ++filter)
                for (int wrap = MNN_IMAGE_CLAMP; wrap <= MNN_IMAGE_REPEAT; ++wrap)
                    sampled(wide, width, filter, wrap, far[i], far[5 - i], to, 40);
}

// The planes of I420 are those of NV12 in another order, so both give the same values under any matrix.
static void i420_gives_the_values_of_nv12(void** state) {
    (void)state;
    enum { kWidth = 9, kHeight = 7, kPairs = 5 * 4, kBytes = kWidth * kHeight + 2 * kPairs };
    uint8_t nv12[kBytes], i420[kBytes];
    for (int i = 0; i < kBytes; ++i) i420[i] = (uint8_t)(i * 53 + 11);
    memcpy(nv12, i420, kWidth * kHeight);
    for (int i = 0; i < kPairs; ++i) {
        nv12[kWidth * kHeight + 2 * i] = i420[kWidth * kHeight + i];
        nv12[kWidth * kHeight + 2 * i + 1] = i420[kWidth * kHeight + kPairs + i];
    }
    mnn_image_options_t options;
    OK(mnn_image_options_init(&options, sizeof options));
    options.has_matrix = 1;
    const float matrix[6] = {0.6F, 0.2F, -1, -0.3F, 0.7F, 2};
    memcpy(options.matrix, matrix, sizeof matrix);
    float values[2][3 * 11 * 8];
    for (int i = 0; i < 2; ++i) {
        const mnn_image_t image =
            picture(i ? MNN_IMAGE_I420 : MNN_IMAGE_NV12, kWidth, kHeight, i ? i420 : nv12, kBytes);
        mnn_image_values_t to;
        OK(mnn_image_values_init(&to, sizeof to));
        to.format = MNN_IMAGE_BGR;
        to.width = 11;
        to.height = 8;
        to.data = values[i];
        to.bytes = sizeof values[i];
        OK(mnn_image_convert(&options, &image, &to));
    }
    assert_memory_equal(values[0], values[1], sizeof values[0]);
}

static void wrong_options_are_refused(void** state) {
    (void)state;
    uint8_t pixels[12] = {0};
    float data[16];
    memset(data, 0x5a, sizeof data);
    const mnn_image_t image = picture(MNN_IMAGE_RGB, 2, 2, pixels, sizeof pixels);
    mnn_image_options_t options;
    mnn_image_values_t values;
#define WRONG(change, status, word)                                        \
    do {                                                                   \
        OK(mnn_image_options_init(&options, sizeof options));              \
        OK(mnn_image_values_init(&values, sizeof values));                 \
        values.format = MNN_IMAGE_BGRA;                                    \
        values.width = values.height = 2;                                  \
        values.data = data;                                                \
        values.bytes = sizeof data;                                        \
        change;                                                            \
        FAILS(mnn_image_convert(&options, &image, &values), status, word); \
    } while (0)
    WRONG(options.filter = 3, MNN_ERROR_INVALID_VALUE, "filter 3");
    WRONG(options.wrap = -1, MNN_ERROR_INVALID_VALUE, "wrap -1");
    WRONG(options.padding = 256, MNN_ERROR_BAD_RANGE, "256");
    WRONG((options.has_matrix = 1, options.matrix[4] = NAN), MNN_ERROR_INVALID_VALUE, "matrix[4]");
    WRONG(options.mean[3] = INFINITY, MNN_ERROR_INVALID_VALUE, "mean[3]");
    WRONG((options.has_scale = 1, options.scale[0] = NAN), MNN_ERROR_INVALID_VALUE, "scale[0]");
    WRONG(options.struct_size = 3, MNN_ERROR_VERSION_MISMATCH, "options");
    WRONG(values.format = MNN_IMAGE_I420, MNN_ERROR_NOT_SUPPORTED, "YUV");
    WRONG(values.format = 77, MNN_ERROR_INVALID_VALUE, "77");
    WRONG(values.width = 0, MNN_ERROR_BAD_RANGE, "0 x 2");
    WRONG(values.type = MNN_TYPE_INT32, MNN_ERROR_INVALID_VALUE, "type 3");
    WRONG(values.layout = MNN_FORMAT_NC4HW4, MNN_ERROR_INVALID_VALUE, "layout 2");
    WRONG(values.bytes--, MNN_ERROR_BUFFER_TOO_SMALL, "64 bytes");
    WRONG(values.data = NULL, MNN_ERROR_NULL_ARGUMENT, "values.data");
#undef WRONG
    for (size_t i = 0; i < sizeof data; ++i) assert_int_equal(((uint8_t*)data)[i], 0x5a);
    const mnn_image_t yuv = picture(MNN_IMAGE_NV12, 2, 2, pixels, sizeof pixels);
    OK(mnn_image_values_init(&values, sizeof values));
    values.format = MNN_IMAGE_RGB;
    values.width = values.height = 2;
    values.data = data;
    values.bytes = sizeof data;
    OK(mnn_image_options_init(&options, sizeof options));
    options.wrap = MNN_IMAGE_REPEAT;
    FAILS(mnn_image_convert(&options, &yuv, &values), MNN_ERROR_NOT_SUPPORTED, "repeated");
}

enum { BOXES = 12, NUMBERS = 7, INPUT_WIDTH = 30, INPUT_HEIGHT = 10, WIDTH = 60, HEIGHT = 40 };

// Returns a detector whose rows are a centre, extents, a score and the scores of two classes.
static mnn_image_detector_t detector_of_two_classes(void) {
    const int32_t columns[] = {MNN_IMAGE_BOX_CENTRE_X, MNN_IMAGE_BOX_CENTRE_Y, MNN_IMAGE_BOX_WIDTH,
                               MNN_IMAGE_BOX_HEIGHT,   MNN_IMAGE_BOX_SCORE,    MNN_IMAGE_BOX_CLASSES};
    const int32_t dims[] = {1, BOXES, NUMBERS};
    mnn_image_detector_t detector;
    OK(mnn_image_detector_init(&detector, sizeof detector));
    memcpy(detector.columns, columns, sizeof columns);
    memcpy(detector.boxes_dims, dims, sizeof dims);
    detector.column_count = 6;
    detector.boxes_rank = 3;
    detector.input_width = INPUT_WIDTH;
    detector.input_height = INPUT_HEIGHT;
    detector.picture_width = WIDTH;
    detector.picture_height = HEIGHT;
    detector.min_score = 0.4;
    return detector;
}

static const float kRows[BOXES][NUMBERS] = {
    {5, 5, 4, 4, 0.5f, 0.1f, 0.9f}, {20, 5, 4, 4, 0.9f, 0.8f, 0.1f}, {20, 5, 4, 4, 0.9f, 0.7f, 0.1f}};

static void assert_numbers(const double* found, const double* wanted, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (fabs(found[i] - wanted[i]) > 1e-5) fail_msg("number %zu is %g, wanted %g", i, found[i], wanted[i]);
}

static void boxes_lie_in_the_picture_and_the_best_is_first(void** state) {
    (void)state;
    mnn_image_detector_t detector = detector_of_two_classes();
    // The third row shares all of its box with the second one, which has a better score.
    const double wanted[] = {36, 12, 44, 28, 0.72, 0, 6, 12, 14, 28, 0.45, 1};
    double found[13];
    size_t needed = 0;
    OK(mnn_image_boxes(&detector, kRows[0], NULL, NULL, NULL, 0, &needed));
    assert_int_equal(needed, 12);
    found[12] = 99;
    OK(mnn_image_boxes(&detector, kRows[0], NULL, NULL, found, 12, &needed));
    assert_numbers(found, wanted, 12);
    assert_true(found[12] == 99);
    FAILS(mnn_image_boxes(&detector, kRows[0], NULL, NULL, found, 11, &needed), MNN_ERROR_BUFFER_TOO_SMALL, "boxes");
    // The same numbers, with a column for each box.
    float turned[NUMBERS][BOXES];
    for (size_t i = 0; i < BOXES; ++i)
        for (size_t k = 0; k < NUMBERS; ++k) turned[k][i] = kRows[i][k];
    detector.boxes_dims[1] = NUMBERS;
    detector.boxes_dims[2] = BOXES;
    OK(mnn_image_boxes(&detector, turned[0], NULL, NULL, found, 12, &needed));
    assert_int_equal(needed, 12);
    assert_numbers(found, wanted, 12);
    detector.has_overlap = 1;
    detector.overlap = 1;
    OK(mnn_image_boxes(&detector, turned[0], NULL, NULL, NULL, 0, &needed));
    assert_int_equal(needed, 18);
    detector.has_background = 1;
    detector.background = 0;
    OK(mnn_image_boxes(&detector, turned[0], NULL, NULL, found, 12, &needed));
    assert_int_equal(needed, 6);
    assert_numbers(found, wanted + 6, 6);
}

static void boxes_with_scores_and_classes_of_their_own(void** state) {
    (void)state;
    mnn_image_detector_t detector;
    OK(mnn_image_detector_init(&detector, sizeof detector));
    for (int32_t i = 0; i < 4; ++i) detector.columns[i] = MNN_IMAGE_BOX_X1 + i;
    detector.column_count = 4;
    detector.boxes_rank = 2;
    detector.boxes_dims[0] = 3;
    detector.boxes_dims[1] = 4;
    detector.scores_rank = detector.classes_rank = 1;
    detector.scores_dims[0] = detector.classes_dims[0] = 3;
    detector.input_width = detector.input_height = 100;
    // The picture fills the input from the 20th row to the 80th.
    detector.top = 20;
    detector.width = 100;
    detector.height = 60;
    detector.picture_width = 50;
    detector.picture_height = 30;
    const float boxes[3][4] = {{0.1f, 0.3f, 0.5f, 0.6f}, {0.2f, 0, 2, 1}, {NAN, 0, 1, 1}};
    const float scores[] = {0.25f, 0.75f, 1}, classes[] = {7, 8, 9};
    const double wanted[] = {10, 0, 50, 30, 0.75, 8, 5, 5, 25, 20, 0.25, 7};
    double found[12];
    size_t needed = 0;
    OK(mnn_image_boxes(&detector, boxes[0], scores, classes, found, 12, &needed));
    assert_int_equal(needed, 12); /* no number in fractions exceeds 2 */
    assert_numbers(found, wanted, 12);
    detector.unit = MNN_IMAGE_UNIT_PIXELS;
    OK(mnn_image_boxes(&detector, boxes[0], scores, classes, NULL, 0, &needed));
    assert_int_equal(needed, 0); /* all of them lie above the picture */
    detector.boxes_dims[0] = detector.scores_dims[0] = detector.classes_dims[0] = 0;
    OK(mnn_image_boxes(&detector, NULL, NULL, NULL, NULL, 0, &needed));
    assert_int_equal(needed, 0);
}

static void wrong_detectors_are_refused(void** state) {
    (void)state;
    double found[12];
    size_t needed = 77;
    const float one = 1;
#define WRONG(change, status, word)                                                                \
    do {                                                                                           \
        mnn_image_detector_t detector = detector_of_two_classes();                                 \
        change;                                                                                    \
        FAILS(mnn_image_boxes(&detector, kRows[0], &one, &one, found, 12, &needed), status, word); \
        assert_int_equal(needed, 77);                                                              \
    } while (0)
    WRONG(detector.column_count = 0, MNN_ERROR_INVALID_VALUE, "0 columns");
    WRONG(detector.column_count = 65, MNN_ERROR_INVALID_VALUE, "65 columns");
    WRONG(detector.columns[0] = 12, MNN_ERROR_INVALID_VALUE, "column 12");
    WRONG(detector.columns[0] = MNN_IMAGE_BOX_X2, MNN_ERROR_INVALID_VALUE, "likewise y1");
    WRONG(detector.columns[1] = MNN_IMAGE_BOX_OTHER, MNN_ERROR_INVALID_VALUE, "likewise y1");
    WRONG(detector.columns[detector.column_count++] = MNN_IMAGE_BOX_OTHER, MNN_ERROR_INVALID_VALUE, "last column");
    WRONG(detector.columns[5] = MNN_IMAGE_BOX_SCORE, MNN_ERROR_INVALID_VALUE, "one score");
    WRONG(detector.unit = 3, MNN_ERROR_INVALID_VALUE, "unit 3");
    WRONG(detector.min_score = NAN, MNN_ERROR_INVALID_VALUE, "min_score");
    WRONG((detector.has_overlap = 1, detector.overlap = -1), MNN_ERROR_BAD_RANGE, "overlap");
    WRONG(detector.boxes_rank = 10, MNN_ERROR_BAD_RANGE, "rank of the boxes is 10");
    WRONG(detector.boxes_dims[1] = -1, MNN_ERROR_BAD_RANGE, "extent 1 of the boxes");
    WRONG(detector.boxes_dims[1] = detector.boxes_dims[2] = 5, MNN_ERROR_COMPUTE_SIZE, "1x5x5");
    WRONG((detector.boxes_dims[0] = detector.boxes_dims[1] = detector.boxes_dims[2] = INT32_MAX), MNN_ERROR_OVERFLOW,
          "overflows");
    WRONG((detector.scores_rank = 1, detector.scores_dims[0] = 5), MNN_ERROR_COMPUTE_SIZE, "12 boxes");
    WRONG((detector.scores_rank = 2, detector.scores_dims[0] = 12, detector.scores_dims[1] = 0), MNN_ERROR_COMPUTE_SIZE,
          "12x0");
    WRONG((detector.classes_rank = 2, detector.classes_dims[0] = 12, detector.classes_dims[1] = 2),
          MNN_ERROR_COMPUTE_SIZE, "classes have 2");
    WRONG(detector.input_width = 0, MNN_ERROR_BAD_RANGE, "the input");
    WRONG(detector.picture_height = 65536, MNN_ERROR_BAD_RANGE, "the picture");
    WRONG(detector.width = -1, MNN_ERROR_BAD_RANGE, "the part");
    WRONG(detector.struct_size = 3, MNN_ERROR_VERSION_MISMATCH, "detector");
#undef WRONG
    const mnn_image_detector_t detector = detector_of_two_classes();
    FAILS(mnn_image_boxes(&detector, NULL, NULL, NULL, found, 12, &needed), MNN_ERROR_NULL_ARGUMENT, "boxes");
    FAILS(mnn_image_boxes(NULL, kRows[0], NULL, NULL, found, 12, &needed), MNN_ERROR_NULL_ARGUMENT, "detector");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_decoded_into_every_format),
        cmocka_unit_test(a_png_file_has_the_pixels_that_were_written),
        cmocka_unit_test(a_blank_page_is_decoded),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(incomplete_files_are_refused),
        cmocka_unit_test(sizes_count_strides_and_planes),
        cmocka_unit_test(a_view_is_a_part),
        cmocka_unit_test(resizing_keeps_an_even_picture_and_averages),
        cmocka_unit_test(rows_may_lie_far_apart),
        cmocka_unit_test(pictures_repeat_and_cubic_samples_follow_the_kernel),
        cmocka_unit_test(i420_gives_the_values_of_nv12),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(boxes_lie_in_the_picture_and_the_best_is_first),
        cmocka_unit_test(boxes_with_scores_and_classes_of_their_own),
        cmocka_unit_test(wrong_detectors_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
