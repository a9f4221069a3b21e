// Reads the boxes that a detector found, from its outputs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "image.h"
#include "npy.h"

namespace tool {

// The meaning of a number in a box's row: an edge, centre or extent of the box; its score; its class; one score for
// each class, which takes all remaining numbers; or an unused number.
enum class Column { X1, Y1, X2, Y2, CentreX, CentreY, Width, Height, Score, Class, Classes, Other };
enum class Unit { Guessed, Pixels, Fractions };  // the unit of coordinates: pixels or fractions of the input

// The form in which outputs describe boxes.
struct BoxForm {
    std::string boxes;  // the output with a row for each box
    std::string scores,
        classes;                  // outputs with a number for each box, `scores` also one for each class; "": none
    std::vector<Column> columns;  // the columns of `boxes`
    Unit unit = Unit::Guessed;
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
    // The largest permitted overlap of two boxes of one class, as intersection over union. 1: any; below 0:
    // kUsualOverlap where outputs have one score for each class, else any, because such a net has already removed
    // overlapping boxes.
    double overlap = -1;
    int64_t background = -1;  // the class that means no object; -1: there is no such class
};

inline constexpr double kUsualOverlap = 0.45;

// Returns the boxes of one picture, the best one first, at most kMaxDetections. Boxes that are empty, not finite or
// outside of the picture are left out. Throws ToolError where the outputs do not have the form.
inline constexpr size_t kMaxDetections = 1000;
std::vector<Detection> detectionsOf(const std::vector<NamedArray>& outputs, const BoxForm& form,
                                    const BoxChoice& choice, const View& view);

// Returns the name of a class, or its number where it has none; "" where the class is not known.
std::string className(int64_t kind, const std::vector<std::string>& names);

// Returns nullptr where there is no such output.
const Array* findOutput(const std::vector<NamedArray>& outputs, const std::string& name);

}  // namespace tool
