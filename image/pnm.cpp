// The reader of .pgm and .ppm files.
#include "pnm.h"

#include <mnn_c_image.h>

#include <cctype>

#include "base/error.h"
#include "picture.h"

namespace mnnc::image {
namespace {

class Reader {
  public:
    explicit Reader(std::span<const uint8_t> file) : file_(file) {}

    Decoded header() {
        Decoded image;
        image.channels = file_[1] == '6' ? 3 : 1;
        image.width = static_cast<int>(number("width", MNN_IMAGE_MAX_PIXELS));
        image.height = static_cast<int>(number("height", MNN_IMAGE_MAX_PIXELS));
        checkPixelCount(image.width, image.height, "the picture of the file");
        white_ = static_cast<uint32_t>(number("largest value", 65535));
        return image;
    }

    Decoded image() {
        Decoded image = header();
        const size_t sampleBytes = white_ > 255 ? 2 : 1;
        const size_t count = static_cast<size_t>(image.width) * image.height * image.channels;
        const std::span<const uint8_t> bytes = samples(count * sampleBytes);
        image.values.resize(count);
        for (size_t i = 0; i < count; ++i) {
            const uint32_t sample = sampleBytes == 2 ? bytes[2 * i] << 8 | bytes[2 * i + 1] : bytes[i];
            if (sample > white_) fail(Status::BadFormat, "the file has a value %u, its largest is %u", sample, white_);
            image.values[i] = static_cast<uint8_t>((sample * 255 + white_ / 2) / white_);
        }
        return image;
    }

  private:
    // Reads white space and comments, then digits.
    int64_t number(const char* name, int64_t limit) {
        for (; at_ < file_.size(); ++at_) {
            if (file_[at_] == '#')
                while (at_ < file_.size() && file_[at_] != '\n' && file_[at_] != '\r') ++at_;
            else if (!std::isspace(file_[at_]))
                break;
        }
        const size_t begin = at_;
        int64_t value = 0;
        for (; at_ < file_.size() && std::isdigit(file_[at_]); ++at_) {
            value = value * 10 + (file_[at_] - '0');
            if (value > limit)
                fail(Status::LimitExceeded, "the file's %s is above %lld, the maximum that is readable", name,
                     static_cast<long long>(limit));
        }
        if (at_ == begin || value == 0)
            fail(at_ == file_.size() ? Status::Truncated : Status::BadFormat, "the file has no %s", name);
        return value;
    }

    // The samples after the header and one byte of white space.
    std::span<const uint8_t> samples(size_t bytes) const {
        if (at_ == file_.size() || bytes > file_.size() - at_ - 1)
            fail(Status::Truncated, "the file has %zu bytes, its pixels end after %zu", file_.size(), at_ + 1 + bytes);
        return file_.subspan(at_ + 1, bytes);
    }

    std::span<const uint8_t> file_;
    size_t at_ = 2;
    uint32_t white_ = 0;
};

}  // namespace

bool isPnm(std::span<const uint8_t> file) {
    return file.size() >= 2 && file[0] == 'P' && (file[1] == '5' || file[1] == '6');
}

Decoded pnmHeader(std::span<const uint8_t> file) {
    return Reader(file).header();
}

Decoded readPnm(std::span<const uint8_t> file) {
    return Reader(file).image();
}

}  // namespace mnnc::image
