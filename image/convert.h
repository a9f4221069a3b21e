// Converts a picture to the values of a tensor.
#pragma once
#include "picture.h"

namespace mnnc::image {

// Checks everything before it writes. options may be null.
void convert(const mnn_image_options_t* options, const mnn_image_t* source, const mnn_image_values_t* values);

}  // namespace mnnc::image
