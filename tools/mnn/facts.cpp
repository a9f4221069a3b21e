// Collects facts about a session.
#include "facts.h"

#include "session_settings.h"

namespace tool {

void Facts::add(const char* name, const std::string& value) {
    if (!value.empty()) list_.push_back(Json::object({{"name", name}, {"value", value}}));
}

void Facts::addSettings(const Session& session) {
    const Json settings = describeSettings(session);
    if (!settings.at("device").is_null()) add("GPU", settings.at("device").get<std::string>());
    add("CPU", processorName());
    add("instruction set", settings.at("cpu_isa").get<std::string>());
    add("threads", std::to_string(settings.at("threads").get<uint64_t>()));
    add("precision", settings.at("precision").get<std::string>());
    for (const Json& reason : settings.at("reasons")) add("note", reason.get<std::string>());
}

std::string Facts::line() const {
    std::string line;
    for (const Json& fact : list_)
        line +=
            (line.empty() ? "" : ", ") + fact.at("name").get<std::string>() + " " + fact.at("value").get<std::string>();
    return line;
}

}  // namespace tool
