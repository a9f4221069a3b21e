// Calls libmnn_c_image for pictures that own their pixels.
#include "picture.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "errors.h"
#include "text.h"

namespace tool {
namespace {

Picture emptyPicture(int32_t format, int32_t width, int32_t height) {
    Picture picture{format, width, height, {}};
    mnn_image_t image = picture.view();
    checkImage(mnn_image_byte_size(&image, &image.bytes));
    picture.pixels.resize(image.bytes);
    return picture;
}

}  // namespace

mnn_image_t Picture::view() {
    mnn_image_t image;
    checkImage(mnn_image_init(&image, sizeof image));
    image.format = format;
    image.width = width;
    image.height = height;
    image.pixels = pixels.data();
    image.bytes = pixels.size();
    return image;
}

void checkImage(mnn_status status) {
    if (status != MNN_OK) throw ToolError(fmt::format("cannot read the picture: {}", mnn_image_last_error()));
}

bool isPictureName(const std::string& path) {
    const size_t dot = path.rfind('.');
    if (dot == std::string::npos) return false;
    std::string ending = path.substr(dot + 1);
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array<std::string_view, 8> known = {"png", "jpg", "jpeg", "bmp", "gif", "tga", "ppm", "pgm"};
    return std::find(known.begin(), known.end(), ending) != known.end();
}

bool isPicture(std::string_view bytes) {
    constexpr std::array<std::string_view, 6> beginnings = {"\x89PNG", "\xff\xd8", "GIF8", "BM", "P5", "P6"};
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view beginning) { return bytes.starts_with(beginning); });
}

Picture decodedPicture(std::string_view bytes, int32_t format) {
    mnn_image_t found;
    checkImage(mnn_image_init(&found, sizeof found));
    checkImage(mnn_image_info(bytes.data(), bytes.size(), &found));
    Picture picture = emptyPicture(format, found.width, found.height);
    const mnn_image_t image = picture.view();
    checkImage(mnn_image_decode(bytes.data(), bytes.size(), &image));
    return picture;
}

Picture resizedPicture(Picture& picture, int32_t width, int32_t height) {
    Picture result = emptyPicture(picture.format, width, height);
    const mnn_image_t from = picture.view(), to = result.view();
    checkImage(mnn_image_resize(&from, &to));
    return result;
}

std::string pngOf(Picture& picture) {
    const mnn_image_t image = picture.view();
    // A byte takes at most nine bits (RFC 1951, 3.2.6), and each row has one more byte. Asking for the size would
    // compress the picture once more.
    const size_t unpacked = image.bytes + static_cast<size_t>(image.height);
    std::string file(unpacked + unpacked / 8 + 1024, '\0');
    size_t bytes = 0;
    checkImage(mnn_image_encode_png(&image, file.data(), file.size(), &bytes));
    file.resize(bytes);
    return file;
}

}  // namespace tool
