// The readers of image files and the conversions of pictures: through the tool, for inputs with channels first and
// last, and through mnn_c_image.h, with options that come from the file's own bytes.
#include <mnn_c_image.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "target.h"
#include "tools/mnn/errors.h"
#include "tools/mnn/image.h"

namespace {

// Returns the next bytes of the input as a number; 0 behind its end.
class Numbers {
  public:
    Numbers(const uint8_t* data, size_t size) : data_(data), size_(size) {}
    template <typename T>
    T next() {
        T value{};
        const size_t count = std::min(sizeof value, size_ - at_);
        if (count > 0) std::memcpy(&value, data_ + at_, count);
        at_ += count;
        return value;
    }

  private:
    const uint8_t* data_;
    size_t size_, at_ = 0;
};

void convertAnything(const uint8_t* data, size_t size) {
    Numbers numbers(data, size);
    mnn_image_t image;
    mnn_image_options_t options;
    mnn_image_values_t values;
    if (mnn_image_init(&image, sizeof image) || mnn_image_options_init(&options, sizeof options) ||
        mnn_image_values_init(&values, sizeof values))
        std::abort();
    image.format = numbers.next<uint8_t>() % 15;
    image.width = numbers.next<uint8_t>() % 40;
    image.height = numbers.next<uint8_t>() % 40;
    image.stride = numbers.next<uint8_t>();
    options.filter = numbers.next<uint8_t>() % 4;
    options.wrap = numbers.next<uint8_t>() % 4;
    options.padding = numbers.next<uint8_t>();
    options.has_matrix = 1;
    for (float& value : options.matrix) value = numbers.next<float>();
    values.format = numbers.next<uint8_t>() % 5;
    values.width = numbers.next<uint16_t>() % 1100;
    values.height = numbers.next<uint8_t>() % 8;
    std::vector<uint8_t> pixels, result(static_cast<size_t>(values.width) * values.height * 4 * sizeof(float));
    if (mnn_image_byte_size(&image, &image.bytes) == MNN_OK) {
        // exactly the bytes of the picture, so that a sanitizer detects an access beyond them
        pixels.assign(image.bytes, 7);
        image.pixels = pixels.data();
    }
    values.data = result.data();
    values.bytes = result.size();
    if (mnn_image_convert(&options, &image, &values) == MNN_ERROR_INTERNAL) std::abort();
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const bool channelsLast = size % 2;
    try {
        const tool::ImageForm form(channelsLast ? std::vector<int64_t>{1, 9, 5, 3} : std::vector<int64_t>{1, 1, 4, 7},
                                   channelsLast);
        (void)tool::imageInput({reinterpret_cast<const char*>(data), size}, form, {});
    } catch (const tool::ToolError&) {
    }
    convertAnything(data, size);
    return 0;
}
