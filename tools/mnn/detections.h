// The boxes that a detector found, out of its outputs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "image.h"
#include "npy.h"

namespace tool {

// What a number of a box's row is: edges, or centre and extents; the box's score; its class; one score for each class,
// which takes all remaining numbers; or nothing that is read.
enum class Column { X1, Y1, X2, Y2, CentreX, CentreY, Width, Height, Score, Class, Classes, Other };
enum class Unit { Guessed, Pixels, Fractions };  // of coordinates: pixels of the input, or parts of it

// How outputs describe boxes.
struct BoxForm {
    std::string boxes;  // the output with a row for each box
    std::string scores,
        classes;                  // outputs with a number for each box, `scores` also one for each class; "": none
    std::vector<Column> columns;  // of `boxes`
    Unit unit = Unit::Guessed;
};

struct Detection {
    double x1, y1, x2, y2;  // in pixels of the picture, inside of it; x1 < x2, y1 < y2
    double score;
    int64_t kind;  // its class; -1: not known
};

// What coordinates of an input mean in a picture.
struct View {
    int32_t inputWidth, inputHeight;
    Place place;            // of the picture in the input
    int32_t width, height;  // of the picture
};

struct NamedArray {
    std::string name;
    Array array;
};

// Which boxes are wanted.
struct BoxChoice {
    double leastScore = 0.5;
    // The largest of two boxes of one class, as intersection over union; 1: any; below 0: kUsualOverlap where outputs
    // have one score for each class, else any, because such a net has compared its boxes already.
    double overlap = -1;
    int64_t background = -1;  // a class that is none; -1: there is no such class
};

inline constexpr double kUsualOverlap = 0.45;

// The boxes of one picture, the best one first, at most kMostDetections. Boxes that are empty, not finite or beyond the
// picture are left out. Throws ToolError where the outputs do not have the form.
inline constexpr size_t kMostDetections = 1000;
std::vector<Detection> detectionsOf(const std::vector<NamedArray>& outputs, const BoxForm& form,
                                    const BoxChoice& choice, const View& view);

// The name of a class, or its number where it has none; "" where it is not known.
std::string className(int64_t kind, const std::vector<std::string>& names);

// nullptr where there is no such output.
const Array* findOutput(const std::vector<NamedArray>& outputs, const std::string& name);

}  // namespace tool
