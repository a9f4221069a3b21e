// The reader of .pgm and .ppm files.
#include "pnm.h"

#include <cctype>
#include <string_view>

#include "errors.h"
#include "text.h"

namespace tool {
namespace {

class Reader {
  public:
    Reader(std::span<const uint8_t> file, const std::string& path) : file_(file), path_(path) {}

    [[noreturn]] void bad(std::string_view what) const {
        throw ToolError(text::format("cannot read the image '{}': {}", path_, what));
    }

    // White space and comments, then digits.
    int64_t number(std::string_view name, int64_t most) {
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
            if (value > most) bad(text::format("its {} is above {}", name, most));
        }
        if (at_ == begin || value == 0) bad(text::format("its {} is no number above 0", name));
        return value;
    }

    // The samples behind the header and one byte of white space.
    std::span<const uint8_t> samples(size_t bytes) {
        if (at_ == file_.size() || bytes > file_.size() - at_ - 1)
            bad(text::format("it has {} bytes, its pixels end after {}", file_.size(), at_ + 1 + bytes));
        return file_.subspan(at_ + 1, bytes);
    }

  private:
    std::span<const uint8_t> file_;
    const std::string& path_;
    size_t at_ = 2;
};

}  // namespace

bool isPnm(std::span<const uint8_t> file) {
    return file.size() >= 2 && file[0] == 'P' && (file[1] == '5' || file[1] == '6');
}

Pixels readPnm(std::span<const uint8_t> file, int64_t mostPixels, const std::string& path) {
    Reader reader(file, path);
    Pixels image;
    image.channels = file[1] == '6' ? 3 : 1;
    const int64_t width = reader.number("width", mostPixels);
    const int64_t height = reader.number("height", mostPixels);
    if (width * height > mostPixels)
        reader.bad(text::format("it is {}x{}, readable are up to {} pixels", width, height, mostPixels));
    image.width = static_cast<int>(width);
    image.height = static_cast<int>(height);
    const auto white = static_cast<uint32_t>(reader.number("largest value", 65535));
    const size_t sampleBytes = white > 255 ? 2 : 1;
    const auto count = static_cast<size_t>(width * height * image.channels);
    const std::span<const uint8_t> samples = reader.samples(count * sampleBytes);
    image.values.resize(count);
    for (size_t i = 0; i < count; ++i) {
        const uint32_t sample = sampleBytes == 2 ? samples[2 * i] << 8 | samples[2 * i + 1] : samples[i];
        if (sample > white) reader.bad(text::format("it has a value {}, its largest is {}", sample, white));
        image.values[i] = static_cast<uint8_t>((sample * 255 + white / 2) / white);
    }
    return image;
}

}  // namespace tool
