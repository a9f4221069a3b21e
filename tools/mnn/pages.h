// The pages that commands write: HTML with everything inside, made from the files in pages/ when the tool is built.
#pragma once
#include <string>
#include <string_view>

#include "json.h"

namespace tool {

struct Page {
    std::string_view before, behind;  // the data
};
extern const Page kGraphPage;
extern const Page kProfilePage;

// The page with its data. Nothing in the data can end the element that it stands in.
std::string filledPage(const Page& page, const Json& data);

}  // namespace tool
