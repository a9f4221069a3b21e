// mnn version: reports the library and its features on this machine.
#include <algorithm>

#include "commands.h"
#include "common.h"
#include "json.h"
#include "session_settings.h"

namespace tool {
namespace {

Json backendsJson() {
    Json names = Json::array();
    size_t count = 0;
    check(mnn_backend_count(&count));
    for (size_t i = 0; i < count; i++) {
        const char* name = nullptr;
        check(mnn_backend_name(i, &name));
        names.push_back(name);
    }
    return names;
}

// Splits a text at spaces.
Json wordsJson(const std::string& text) {
    Json words = Json::array();
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(' ', at), text.size());
        if (end > at) words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

std::string joinedWords(const Json& words) {
    std::string text;
    for (const Json& word : words) {
        if (!text.empty()) text += ' ';
        text += word.get<std::string>();
    }
    return text;
}

}  // namespace

int version(const VersionOptions& options) {
    mnn_cpu_properties_t cpu{};
    cpu.struct_size = sizeof cpu;
    check(mnn_cpu_info(&cpu));
    const uint32_t abi = mnn_abi_version();
    const Json result = Json::object({{"version", mnn_version()},
                                      {"abi", fmt::format("{}.{}", abi >> 16, abi & 0xffff)},
                                      {"backends", backendsJson()},
                                      {"cpu", Json::object({{"name", processorName()},
                                                            {"isas", wordsJson(cpu.isas)},
                                                            {"features", wordsJson(cpu.features)},
                                                            {"cores", cpu.logical_cores}})}});
    if (options.json) {
        text::print("{}\n", jsonText(result));
        return 0;
    }
    text::print("mnn {}, binary interface {}\n", result.at("version").get<std::string>(),
                result.at("abi").get<std::string>());
    text::print("backends          {}\n", joinedWords(result.at("backends")));
    text::print("processor         {}\n", result.at("cpu").at("name").get<std::string>());
    text::print("instruction sets  {}\n", joinedWords(result.at("cpu").at("isas")));
    return 0;
}

}  // namespace tool
