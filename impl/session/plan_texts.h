// The commands of a session's plans as text, before the first pass and after each one.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mnnc {

struct PassText {
    std::string pass;  // "" before the first pass
    std::string text;
};

// By graph and stage. When several operators call a subgraph, the latest plan replaces the others.
using PlanTexts = std::map<std::pair<int, int>, std::vector<PassText>>;

}  // namespace mnnc
