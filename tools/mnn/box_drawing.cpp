// Draws rectangles and words. All pixels are written by fill(), which clips at the edges of the picture.
#include "box_drawing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "font.h"
#include "text.h"

namespace tool {
namespace {

using Colour = std::array<unsigned char, 3>;

// The classes take these colours in turn; all are dark enough for white letters.
constexpr std::array<Colour, 8> kColours = {{{214, 39, 40},
                                             {31, 119, 180},
                                             {44, 140, 44},
                                             {148, 103, 189},
                                             {200, 90, 0},
                                             {140, 86, 75},
                                             {190, 60, 150},
                                             {0, 130, 140}}};
constexpr Colour kWhite = {255, 255, 255};
constexpr size_t kLongestWords = 60;

class Canvas {
  public:
    // Lines and the dots of letters are one pixel wide on small pictures, and grow with them.
    explicit Canvas(Picture& picture)
        : picture_(picture), dot_(std::max(1, std::min(picture.width, picture.height) / 180)) {}

    void fill(int left, int top, int right, int bottom, Colour colour) {
        right = std::min(right, picture_.width);
        bottom = std::min(bottom, picture_.height);
        for (int y = std::max(top, 0); y < bottom; y++)
            for (int x = std::max(left, 0); x < right; x++)
                std::copy(colour.begin(), colour.end(), &picture_.pixels[(size_t(y) * picture_.width + x) * 3]);
    }

    // The lines lie inside of the rectangle, whose right and lower edges are exclusive.
    void frame(int left, int top, int right, int bottom, Colour colour) {
        fill(left, top, right, std::min(top + dot_, bottom), colour);
        fill(left, std::max(bottom - dot_, top), right, bottom, colour);
        fill(left, top, std::min(left + dot_, right), bottom, colour);
        fill(std::max(right - dot_, left), top, right, bottom, colour);
    }

    // Draws white letters on a background that touches the upper edge of a box, or lies below that edge where there is
    // no room.
    void words(int left, int top, const std::string& letters, Colour background) {
        const int width = dot_ * (static_cast<int>(letters.size()) * (kLetterWidth + 1) + 1);
        const int height = dot_ * (kLetterHeight + 2);
        if (top >= height) top -= height;
        left = std::clamp(left, 0, std::max(0, picture_.width - width));
        fill(left, top, left + width, top + height, background);
        for (size_t i = 0; i < letters.size(); i++)
            letter(left + dot_ + static_cast<int>(i) * dot_ * (kLetterWidth + 1), top + dot_, letters[i]);
    }

  private:
    void letter(int left, int top, char which) {
        for (int y = 0; y < kLetterHeight; y++)
            for (int x = 0; x < kLetterWidth; x++)
                if (isInk(which, x, y))
                    fill(left + x * dot_, top + y * dot_, left + (x + 1) * dot_, top + (y + 1) * dot_, kWhite);
    }

    Picture& picture_;
    const int dot_;
};

}  // namespace

void drawDetections(Picture& picture, const std::vector<Detection>& detections, const std::vector<std::string>& names) {
    Canvas canvas(picture);
    for (size_t i = detections.size(); i-- > 0;) {
        const Detection& box = detections[i];
        const Colour colour = kColours[static_cast<size_t>(std::max<int64_t>(box.kind, 0)) % kColours.size()];
        const auto left = static_cast<int>(std::floor(box.x1)), top = static_cast<int>(std::floor(box.y1));
        canvas.frame(left, top, static_cast<int>(std::ceil(box.x2)), static_cast<int>(std::ceil(box.y2)), colour);
        const std::string name = className(box.kind, names);
        const std::string words = name.empty() ? "" : name + ' ';
        canvas.words(left, top, lettersOf(words + fmt::format("{:.2f}", box.score)).substr(0, kLongestWords), colour);
    }
}

}  // namespace tool
