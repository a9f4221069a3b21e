// mnn calibrate: measures this CPU's costs for --cpu-costs.
#include <cstdlib>
#include <sstream>

#include "commands.h"
#include "common.h"
#include "json.h"
#include "output_file.h"
#include "progress.h"

namespace tool {
namespace {

std::string measured(const std::string& isa) {
    size_t needed = 0;
    check(mnn_cpu_calibrate(isa.c_str(), nullptr, nullptr, 0, &needed));
    std::string text(needed, '\0');
    check(mnn_cpu_calibrate(isa.c_str(), nullptr, text.data(), text.size(), &needed));
    text.resize(needed - 1);
    return text;
}

// Returns the costs in the text as an object. Its lines are "name value", and "isa name" begins those of an instruction
// set.
Json costsJson(const std::string& text) {
    Json list = Json::array(), costs;
    std::string isa;
    std::istringstream in(text);
    const auto finish = [&] {
        if (!isa.empty()) list.push_back(Json::object({{"isa", isa}, {"costs", costs}}));
        costs = Json::object();
    };
    for (std::string line; std::getline(in, line);) {
        const size_t space = line.find(' ');
        if (space == std::string::npos) continue;
        const std::string name = line.substr(0, space), value = line.substr(space + 1);
        if (name == "isa") {
            finish();
            isa = value;
        } else if (!isa.empty()) {
            costs[name] = std::strtod(value.c_str(), nullptr);
        }
    }
    finish();
    return list;
}

}  // namespace

int calibrate(const CalibrateOptions& options) {
    std::vector<std::string> isas = options.isas;
    if (isas.empty()) isas.emplace_back();
    std::string text;
    {
        // The command draws it between the measurements, so that nothing else runs during one.
        Progress progress("calibrate", isas.size(), Progress::Drawn::ByCommand);
        for (size_t i = 0; i < isas.size(); i++) {
            const std::string isa = isas[i].empty() ? "the best instruction set" : isas[i];
            progress.announce(fmt::format("{} of {}, {}", i, isas.size(), isa));
            text += measured(isas[i]);
        }
    }
    writeOutput(options.output, options.json ? jsonText(costsJson(text)) + "\n" : text);
    return 0;
}

}  // namespace tool
