// The pages that commands write: HTML with all parts inside, assembled from the files in pages/ when the tool is built.
#pragma once
#include <string>
#include <string_view>

#include "json.h"

namespace tool {

struct Page {
    std::string_view before, behind;  // text before and after the data
};
extern const Page kGraphPage;
extern const Page kProfilePage;

// Returns the page with its data, which is escaped so that it cannot end its HTML element.
std::string filledPage(const Page& page, const Json& data);

}  // namespace tool
