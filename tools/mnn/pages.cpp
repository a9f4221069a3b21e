// Inserts data into pages.
#include "pages.h"

namespace tool {

std::string filledPage(const Page& page, const Json& data) {
    std::string text(page.before);
    // JSON has these characters only inside of strings.
    for (const char character : jsonText(data, -1)) {
        if (character == '<' || character == '>' || character == '&') {
            text += character == '<' ? "\\u003c" : character == '>' ? "\\u003e" : "\\u0026";
        } else {
            text += character;
        }
    }
    return text.append(page.behind);
}

}  // namespace tool
