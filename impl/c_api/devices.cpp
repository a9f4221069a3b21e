// mnn_device_*: the devices of the backends.
#include "backend/registry.h"
#include "c_api/guard.h"

using namespace mnnc;

namespace {

std::vector<DeviceDescription> devicesOf(int32_t type) {
    if (type != MNN_FORWARD_CPU && type != MNN_FORWARD_VULKAN)
        fail(Status::InvalidValue, "forward_type is %d, which is not a backend of this library", type);
    for (const BackendEntry& entry : builtinBackends()) {
        if (entry.type != static_cast<ForwardType>(type)) continue;
        if (!entry.listDevices) return {};
        std::string reason;
        std::vector<DeviceDescription> devices = entry.listDevices(reason);
        if (devices.empty()) fail(Status::BackendMissing, "%s", reason.c_str());
        return devices;
    }
    fail(Status::BackendMissing, "forward type %d is not built into this library", type);
}

}  // namespace

mnn_status mnn_device_count(int32_t forward_type, size_t* count) {
    const mnn_status status = guard([&] {
        required(count, "count");
        *count = devicesOf(forward_type).size();
    });
    if (status == MNN_ERROR_BACKEND_MISSING) *count = 0;
    return status;
}

mnn_status mnn_device_info(int32_t forward_type, size_t index, mnn_device_properties_t* properties) {
    return guard([&] {
        checkStructSize(required(properties, "properties").struct_size, sizeof(mnn_device_properties_t), "properties");
        const std::vector<DeviceDescription> devices = devicesOf(forward_type);
        checkIndex(index, devices.size(), "device");
        const DeviceDescription& device = devices[index];
        mnn_device_properties_t result{};
        copyText(result.name, sizeof result.name, device.name.c_str());
        copyText(result.driver, sizeof result.driver, device.driver.c_str());
        copyText(result.kind, sizeof result.kind, device.kind.c_str());
        static_assert(sizeof result.uuid == sizeof device.uuid);
        std::copy(std::begin(device.uuid), std::end(device.uuid), result.uuid);
        result.memory_bytes = device.memoryBytes;
        result.api_version = device.apiVersion;
        result.driver_version = device.driverVersion;
        result.vendor_id = device.vendorId;
        result.device_id = device.deviceId;
        result.subgroup_size = device.subgroupSize;
        result.subgroup_arithmetic = device.subgroupArithmetic ? 1 : 0;
        result.fp16_storage = device.fp16Storage ? 1 : 0;
        result.fp16_arithmetic = device.fp16Arithmetic ? 1 : 0;
        writeStruct(properties, result);
    });
}
