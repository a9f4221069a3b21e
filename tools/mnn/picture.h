// Pictures in memory and in files, by libmnn_c_image.
#pragma once
#include <mnn_c_image.h>

#include <string>
#include <string_view>
#include <vector>

namespace tool {

// Rows of pixels without gaps between them.
struct Picture {
    int32_t format = MNN_IMAGE_RGB;  // MNN_IMAGE_*
    int32_t width = 0, height = 0;
    std::vector<unsigned char> pixels;

    mnn_image_t view();  // of these pixels
};

// Throws ToolError with the sentence of libmnn_c_image unless the status is MNN_OK.
void checkImage(mnn_status status);

// Files of more bytes hold no picture that can be read.
inline constexpr size_t kMaxPictureBytes = 1 << 29;

bool isPictureName(const std::string& path);  // by its ending
bool isPicture(std::string_view bytes);       // by how the file begins; a .tga begins with nothing of its own

Picture decodedPicture(std::string_view bytes, int32_t format);
Picture resizedPicture(Picture& picture, int32_t width, int32_t height);
std::string pngOf(Picture& picture);

}  // namespace tool
