// The data of the page that 'mnn profile' writes.
#pragma once
#include "json.h"
#include "op_times.h"

namespace tool {

// facts: pairs of words, such as the model and the settings.
Json profilePageData(const RunTimes& times, const Json& facts);

}  // namespace tool
