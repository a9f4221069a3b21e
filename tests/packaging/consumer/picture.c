/* A program that has libmnn_c_image alone: writes a picture as a PNG file, reads it, and takes values of its right
 * half. It prints "the values are right" where they are what their formula says. */
#include <mnn_c_image.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 6, HEIGHT = 4, CHANNELS = 3, PART = WIDTH / 2 };

static int failed(const char* call) {
    fprintf(stderr, "%s: %s\n", call, mnn_image_last_error());
    return 1;
}

static mnn_image_t picture(uint8_t* pixels, size_t bytes) {
    mnn_image_t image;
    (void)mnn_image_init(&image, sizeof image);
    image.format = MNN_IMAGE_RGB;
    image.width = WIDTH;
    image.height = HEIGHT;
    image.pixels = pixels;
    image.bytes = bytes;
    return image;
}

static float wanted(int channel, int y, int x) {
    return ((float)((y * WIDTH + x + PART) * CHANNELS + channel) * 3 - 127.5F) / 64;
}

static int compare(const float* values) {
    for (int channel = 0; channel < CHANNELS; ++channel)
        for (int y = 0; y < HEIGHT; ++y)
            for (int x = 0; x < PART; ++x, ++values)
                if (*values != wanted(channel, y, x)) {
                    fprintf(stderr, "value (%d, %d, %d) is %g, not %g\n", channel, y, x, (double)*values,
                            (double)wanted(channel, y, x));
                    return 1;
                }
    puts("the values are right");
    return 0;
}

static int convert(const mnn_image_t* part) {
    float data[CHANNELS * HEIGHT * PART];
    mnn_image_options_t options;
    mnn_image_values_t values;
    (void)mnn_image_options_init(&options, sizeof options);
    (void)mnn_image_values_init(&values, sizeof values);
    options.has_scale = 1;
    for (int channel = 0; channel < CHANNELS; ++channel) {
        options.mean[channel] = 127.5F;
        options.scale[channel] = 1 / 64.0F;
    }
    values.format = MNN_IMAGE_RGB;
    values.width = PART;
    values.height = HEIGHT;
    values.data = data;
    values.bytes = sizeof data;
    if (mnn_image_convert(&options, part, &values) != MNN_OK) return failed("mnn_image_convert");
    return compare(data);
}

int main(void) {
    uint8_t pixels[HEIGHT * WIDTH * CHANNELS], read[sizeof pixels], file[1024];
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof pixels; ++i) pixels[i] = (uint8_t)(i * 3);
    mnn_image_t image = picture(pixels, sizeof pixels);
    if (mnn_image_encode_png(&image, file, sizeof file, &bytes) != MNN_OK) return failed("mnn_image_encode_png");
    image = picture(read, sizeof read);
    if (mnn_image_decode(file, bytes, &image) != MNN_OK) return failed("mnn_image_decode");
    if (memcmp(pixels, read, sizeof pixels) != 0) {
        fputs("the file has other pixels than those written\n", stderr);
        return 1;
    }
    if (mnn_image_crop(&image, PART, 0, PART, HEIGHT, &image) != MNN_OK) return failed("mnn_image_crop");
    return convert(&image);
}
