// Reads a session's settings, and the name of the processor.
#include "session_settings.h"

#include <fstream>
#include <string_view>

namespace tool {
namespace {

const char* precisionName(int32_t precision) {
    return precision == MNN_PRECISION_LOW ? "low" : precision == MNN_PRECISION_HIGH ? "high" : "normal";
}

const char* memoryName(int32_t memory) {
    return memory == MNN_MEMORY_LOW ? "low" : memory == MNN_MEMORY_HIGH ? "high" : "normal";
}

}  // namespace

Json describeSettings(const Session& session) {
    mnn_session_properties_t made{};
    made.struct_size = sizeof made;
    check(mnn_session_info(session.get(), &made));
    Json reasons = Json::array();
    for (const char* reason : {made.reason, made.precision_reason, made.memory_reason})
        if (reason) reasons.push_back(reason);
    Json settings = Json::object({{"device", nullptr},
                                  {"cpu_isa", made.cpu_isa},
                                  {"threads", static_cast<uint64_t>(made.threads)},
                                  {"precision", precisionName(made.precision)},
                                  {"memory", memoryName(made.memory)},
                                  {"reasons", reasons}});
    if (made.device) settings["device"] = made.device;
    return settings;
}

std::string softwareDriver(const Session& session) {
    mnn_session_properties_t made{};
    made.struct_size = sizeof made;
    check(mnn_session_info(session.get(), &made));
    size_t count = 0;
    if (!made.device || mnn_device_count(made.forward_type, &count) != MNN_OK) return "";
    for (size_t i = 0; i < count; ++i) {
        mnn_device_properties_t device{};
        device.struct_size = sizeof device;
        if (mnn_device_info(made.forward_type, i, &device) == MNN_OK && made.device == std::string_view(device.name) &&
            device.kind == std::string_view("cpu"))
            return device.name;
    }
    return "";
}

std::string processorName() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "";
}

}  // namespace tool
