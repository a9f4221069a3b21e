// Prints JSON, and reads numbers and lists of files.
#include "json.h"

#include <limits>

#include "errors.h"

namespace tool {

std::string jsonText(const Json& value, int indent) {
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

nlohmann::json parseJson(std::string_view text) {
    return nlohmann::json::parse(text);
}

Json parseOrdered(std::string_view text) {
    return Json::parse(text);
}

std::string reasonOf(const nlohmann::json::exception& error) {
    const std::string_view text = error.what();
    const size_t end = text.starts_with("[json.exception.") ? text.find("] ") : std::string_view::npos;
    return std::string(end == std::string_view::npos ? text : text.substr(end + 2));
}

int64_t integerOf(const nlohmann::json& value) {
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<uint64_t>() > kMax))
        throw ToolError(std::string("a value is ") + value.type_name() + ", but no integer of 64 bits");
    return value.get<int64_t>();
}

std::vector<int64_t> integersOf(const nlohmann::json& value) {
    std::vector<int64_t> numbers;
    for (const nlohmann::json& number : listOf(value)) numbers.push_back(integerOf(number));
    return numbers;
}

const std::vector<nlohmann::json>& listOf(const nlohmann::json& value) {
    if (!value.is_array()) throw ToolError(std::string("a value is ") + value.type_name() + ", but no list");
    return value.get_ref<const nlohmann::json::array_t&>();
}

}  // namespace tool
