// Pictures in memory and in files, through libmnn_c_image.
#pragma once
#include <mnn_c_image.h>

#include <string>
#include <string_view>
#include <vector>

namespace tool {

// A picture whose rows of pixels have no gaps between them.
struct Picture {
    int32_t format = MNN_IMAGE_RGB;  // MNN_IMAGE_*
    int32_t width = 0, height = 0;
    std::vector<unsigned char> pixels;

    mnn_image_t view();  // a view of these pixels
};

// Throws ToolError with the sentence of libmnn_c_image unless the status is MNN_OK.
void checkImage(mnn_status status);

// Larger files are not read as pictures.
inline constexpr size_t kMaxPictureBytes = 1 << 29;

bool isPictureName(const std::string& path);  // decides by the ending
bool isPicture(std::string_view bytes);       // decides by the first bytes; those of a .tga file are not distinctive

Picture decodedPicture(std::string_view bytes, int32_t format);
Picture resizedPicture(Picture& picture, int32_t width, int32_t height);
std::string pngOf(Picture& picture);

}  // namespace tool
