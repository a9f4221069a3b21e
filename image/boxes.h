// Finds the boxes of objects in the outputs of a detector.
#pragma once
#include <mnn_c_image.h>

#include <vector>

namespace mnnc::image {

// Returns six numbers for each box, as mnn_image_boxes() describes them.
std::vector<double> findBoxes(const mnn_image_detector_t& detector, const float* boxes, const float* scores,
                              const float* classes);

}  // namespace mnnc::image
