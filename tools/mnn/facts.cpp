// Collects facts about a session.
#include "facts.h"

#include "session_settings.h"

namespace tool {

void Facts::add(const char* name, const std::string& value) {
    if (!value.empty()) list_.push(Json::object({{"name", name}, {"value", value}}));
}

void Facts::addSettings(const Session& session) {
    const Json settings = describeSettings(session);
    if (!settings.at("device").isNull()) add("GPU", settings.at("device").string());
    add("CPU", processorName());
    add("instruction set", settings.at("cpu_isa").string());
    add("threads", std::to_string(settings.at("threads").natural()));
    add("precision", settings.at("precision").string());
    for (const Json& reason : settings.at("reasons").items()) add("note", reason.string());
}

std::string Facts::line() const {
    std::string line;
    for (const Json& fact : list_.items())
        line += (line.empty() ? "" : ", ") + fact.at("name").string() + " " + fact.at("value").string();
    return line;
}

}  // namespace tool
