// JSON by nlohmann's library: ordered_json for what commands print, in the order in which members were added, and json
// for files, because ordered_json needs time in proportion to the number of members to find one. These functions are
// for the cases in which the library does something else than the tool needs.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

using Json = nlohmann::ordered_json;

// Returns the text of a value, in which bytes that are not UTF-8 are replaced: dump() alone throws for names that
// have such bytes. `indent` below 0: one line.
std::string jsonText(const Json& value, int indent = 2);

// The parsers are instantiated in one source, because compiling them takes seconds. They throw
// nlohmann::json::exception.
nlohmann::json parseJson(std::string_view text);
Json parseOrdered(std::string_view text);

// Returns the sentence of an error without the number that the library of JSON puts in front of it.
std::string reasonOf(const nlohmann::json::exception& error);

// These read values of files and throw ToolError: get() converts fractions and numbers that do not fit without an
// error, and a loop takes any other value for a list of one.
int64_t integerOf(const nlohmann::json& value);
std::vector<int64_t> integersOf(const nlohmann::json& value);
const std::vector<nlohmann::json>& listOf(const nlohmann::json& value);

}  // namespace tool
