// A font of small dot-matrix letters for the words on pictures.
#pragma once
#include <string>
#include <string_view>

namespace tool {

inline constexpr int kLetterWidth = 5, kLetterHeight = 7;

// Returns whether the dot (x, y) of a letter is set; characters that are not ASCII are a box.
bool isInk(char letter, int x, int y);

// Returns one letter for each character of a text: a character that is not ASCII becomes a single box.
std::string lettersOf(std::string_view utf8);

}  // namespace tool
