// The places in the picture of the pixels of a row of the result. Places are summed in float, tile by tile, as in the
// official runtime: its results depend on these roundings wherever a place lies between two pixels.
#pragma once
#include <array>
#include <cstdint>

namespace mnnc::image {

constexpr int kTile = 512;  // pixels of a row whose places are summed from one exact place

struct Place {
    float x = 0, y = 0;
};

// The place of the first of some pixels of the result, and the step from one pixel to the next.
struct Walk {
    Place start, step;
};

class Matrix {
  public:
    explicit Matrix(const std::array<float, 6>& values) : m_(values) {}
    // Returns the walk over `count` pixels of row y, from column x on.
    Walk walk(int64_t x, int64_t y, int count) const;

  private:
    Place at(int64_t x, int64_t y) const;
    std::array<float, 6> m_;
};

// The first and the last of `count` pixels of a walk that lie within a picture; first > last where none does.
struct Span {
    int first, last;
};
Span insideSpan(const Walk& walk, int count, int64_t width, int64_t height);

// Returns the same walk, beginning `first` pixels later.
Walk walkFrom(const Walk& walk, int first);

// Fills `count` places. byFour: four places follow from one sum, as the official runtime does for nearest pixels of
// four channels.
void fillPlaces(const Walk& walk, int count, bool byFour, Place* places);

}  // namespace mnnc::image
