// mnn calibrate: measures this CPU's costs for --cpu-costs.
#include <cstdio>

#include "commands.h"
#include "common.h"
#include "output_file.h"

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

}  // namespace

int calibrate(const CalibrateOptions& options) {
    std::vector<std::string> isas = options.isas;
    if (isas.empty()) isas.emplace_back();
    std::string text;
    for (const std::string& isa : isas) text += measured(isa);
    writeOutput(options.output, text);
    return 0;
}

}  // namespace tool
