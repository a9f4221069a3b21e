// Reads the boxes that a detector found, from its outputs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "image.h"
#include "mnn_c_image.h"
#include "npy.h"

namespace tool {

// The form in which outputs describe boxes.
struct BoxForm {
    std::string boxes;             // the output with a row for each box
    std::string scores, classes;   // outputs with a number for each box, `scores` also one for each class; "": none
    std::vector<int32_t> columns;  // MNN_IMAGE_BOX_*: the columns of `boxes`
    int32_t unit = MNN_IMAGE_UNIT_GUESSED;
};

struct Detection {
    double x1, y1, x2, y2;  // in pixels of the picture, inside of it; x1 < x2, y1 < y2
    double score;
    int64_t kind;  // class of the box; -1: not known
};

// The values that map coordinates of an input to those of a picture.
struct View {
    int32_t inputWidth, inputHeight;
    Place place;            // the part of the input that holds the picture
    int32_t width, height;  // extents of the picture
};

struct NamedArray {
    std::string name;
    Array array;
};

// The boxes that are wanted.
struct BoxChoice {
    double minScore = 0.5;
    double overlap = -1;      // as mnn_image_detector_t has it; below 0: the library's choice
    int64_t background = -1;  // the class that means no object; -1: there is no such class
};

// Returns the boxes of one picture, the best one first (mnn_image_boxes()). Throws ToolError where the outputs do not
// have the form.
std::vector<Detection> detectionsOf(const std::vector<NamedArray>& outputs, const BoxForm& form,
                                    const BoxChoice& choice, const View& view);

// Throws UsageError for columns that do not describe a box.
void checkColumns(const std::vector<int32_t>& columns);

// Returns the name of a class, or its number where it has none; "" where the class is not known.
std::string className(int64_t kind, const std::vector<std::string>& names);

// Returns nullptr where there is no such output.
const Array* findOutput(const std::vector<NamedArray>& outputs, const std::string& name);

}  // namespace tool
