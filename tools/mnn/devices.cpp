// mnn devices: what there is to run on.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common.h"

namespace tool {
namespace {

using nlohmann::ordered_json;

std::string uuidText(const uint8_t (&uuid)[16]) {
    std::string text;
    for (const uint8_t byte : uuid) text += fmt::format("{:02x}", byte);
    return text;
}

// Vulkan's packing of its own versions.
std::string versionText(uint32_t version) {
    return fmt::format("{}.{}.{}", version >> 22 & 0x7f, version >> 12 & 0x3ff, version & 0xfff);
}

ordered_json describeDevice(int32_t type, size_t index) {
    mnn_device_info_t info{};
    info.struct_size = sizeof info;
    check(mnn_device_info(type, index, &info));
    return {{"index", index},
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
            {"subgroup_arithmetic", info.subgroup_arithmetic != 0}};
}

ordered_json describeBackend(size_t index) {
    const char* name = nullptr;
    int32_t type = 0;
    size_t count = 0;
    check(mnn_backend_name(index, &name));
    check(mnn_backend_forward_type(index, &type));
    ordered_json backend = {{"backend", name}, {"missing", nullptr}, {"devices", ordered_json::array()}};
    try {
        check(mnn_device_count(type, &count));
        for (size_t i = 0; i < count; i++) backend["devices"].push_back(describeDevice(type, i));
    } catch (const MissingBackend&) {
        backend["missing"] = mnn_last_error();
    }
    return backend;
}

std::string string(const ordered_json& value) {
    return value.get<std::string>();
}

void printBackend(const ordered_json& backend) {
    const std::string name = string(backend["backend"]);
    if (!backend["missing"].is_null()) {
        fmt::print("{:<8} no device: {}\n", name, string(backend["missing"]));
    } else if (backend["devices"].empty()) {
        fmt::print("{:<8} this machine's processor\n", name);
    }
    for (const ordered_json& device : backend["devices"]) {
        fmt::print("{:<8} {}  {}  ({}, {})\n", name, device["index"].get<size_t>(), string(device["name"]),
                   string(device["kind"]), bytesText(device["memory_bytes"].get<uint64_t>()));
        fmt::print("            uuid {}\n", string(device["uuid"]));
        fmt::print("            driver {}, Vulkan {}\n", string(device["driver"]),
                   string(device["api_version"]));
        fmt::print("            --precision low: {}; subgroups of {}\n",
                   device["fp16_storage"].get<bool>() ? "fp16 tensors" : "no fp16 tensors",
                   device["subgroup_size"].get<uint32_t>());
    }
}

void devices(bool json) {
    ordered_json list = ordered_json::array();
    size_t count = 0;
    check(mnn_backend_count(&count));
    for (size_t i = 0; i < count; i++) list.push_back(describeBackend(i));
    if (json) {
        fmt::print("{}\n", list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    } else {
        for (const ordered_json& backend : list) printBackend(backend);
    }
}

}  // namespace

void addDevices(CLI::App& app) {
    CLI::App* command = app.add_subcommand("devices", "List the devices of all backends");
    auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "Print JSON: a list of backends");
    command->footer(
        "Each device has a number, a UUID and a name; --device of the other commands takes any of\n"
        "them. A backend without a device says what is missing; the exit code is 0 all the same.\n\n"
        "Example: mnn devices && mnn bench net.mnn --backend vulkan --device 0");
    command->callback([json] { devices(*json); });
}

}  // namespace tool
