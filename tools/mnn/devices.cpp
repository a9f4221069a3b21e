// mnn devices: lists the devices of all backends.
#include <cstdio>

#include "commands.h"
#include "common.h"
#include "json.h"
#include "text.h"

namespace tool {
namespace {

std::string uuidText(const uint8_t (&uuid)[16]) {
    std::string text;
    for (const uint8_t byte : uuid) text += fmt::format("{:02x}", byte);
    return text;
}

// Vulkan packs major, minor and patch into 32 bits (VK_MAKE_API_VERSION).
std::string versionText(uint32_t version) {
    return fmt::format("{}.{}.{}", version >> 22 & 0x7f, version >> 12 & 0x3ff, version & 0xfff);
}

Json describeDevice(int32_t type, size_t index) {
    mnn_device_properties_t info{};
    info.struct_size = sizeof info;
    check(mnn_device_info(type, index, &info));
    return Json::object({{"index", index},
                         {"name", info.name},
                         {"uuid", uuidText(info.uuid)},
                         {"kind", info.kind},
                         {"driver", info.driver},
                         {"driver_version", info.driver_version},
                         {"api_version", versionText(info.api_version)},
                         {"vendor_id", info.vendor_id},
                         {"device_id", info.device_id},
                         {"memory_bytes", info.memory_bytes},
                         {"fp16_storage", info.fp16_storage != 0},
                         {"fp16_arithmetic", info.fp16_arithmetic != 0},
                         {"subgroup_size", info.subgroup_size},
                         {"subgroup_arithmetic", info.subgroup_arithmetic != 0}});
}

Json describeBackend(size_t index) {
    const char* name = nullptr;
    int32_t type = 0;
    size_t count = 0;
    check(mnn_backend_name(index, &name));
    check(mnn_backend_forward_type(index, &type));
    Json backend = Json::object({{"backend", name}, {"missing", nullptr}, {"devices", Json::array()}});
    try {
        check(mnn_device_count(type, &count));
        for (size_t i = 0; i < count; i++) backend["devices"].push_back(describeDevice(type, i));
    } catch (const MissingBackend&) {
        backend["missing"] = mnn_last_error();
    }
    return backend;
}

void printBackend(const Json& backend) {
    const std::string name = backend.at("backend").get<std::string>();
    if (!backend.at("missing").is_null()) {
        text::print("{:<8} no device: {}\n", name, backend.at("missing").get<std::string>());
    } else if (backend.at("devices").empty()) {
        text::print("{:<8} this machine's processor\n", name);
    }
    for (const Json& device : backend.at("devices")) {
        text::print("{:<8} {}  {}  ({}, {})\n", name, device.at("index").get<uint64_t>(),
                    device.at("name").get<std::string>(), device.at("kind").get<std::string>(),
                    bytesText(device.at("memory_bytes").get<uint64_t>()));
        text::print("            uuid {}\n", device.at("uuid").get<std::string>());
        text::print("            driver {}, {} {}\n", device.at("driver").get<std::string>(), name,
                    device.at("api_version").get<std::string>());
        text::print("            --precision low: {}; subgroups of {}\n",
                    device.at("fp16_storage").get<bool>() ? "fp16 tensors" : "no fp16 tensors",
                    device.at("subgroup_size").get<uint64_t>());
    }
}

}  // namespace

int devices(const DevicesOptions& options) {
    Json list = Json::array();
    size_t count = 0;
    check(mnn_backend_count(&count));
    for (size_t i = 0; i < count; i++) list.push_back(describeBackend(i));
    if (options.json) {
        text::print("{}\n", jsonText(list));
    } else {
        for (const Json& backend : list) printBackend(backend);
    }
    return 0;
}

}  // namespace tool
