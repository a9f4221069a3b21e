// Draws boxes with words on pictures.
#pragma once
#include <string>
#include <vector>

#include "detections.h"
#include "picture.h"

namespace tool {

// Draws each box with its class and score on a picture of RGB, the best one last, so that it is on top. `names` are
// the names of classes; a class without a name is drawn as its number.
void drawDetections(Picture& picture, const std::vector<Detection>& detections, const std::vector<std::string>& names);

}  // namespace tool
