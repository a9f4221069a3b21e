// The data of the page that 'mnn graph' writes.
#pragma once
#include "json.h"
#include "net_graph.h"

namespace tool {

// facts: pairs of words above the picture, such as the model and the settings.
Json graphPageData(const Net& net, const Json& facts);

}  // namespace tool
