// Records a download over a frame of its own.
#include "session/device_values.h"

#include <cstring>

namespace mnnc {

AlignedBuffer deviceValues(DeviceBackend& device, const Operand& tensor, const Frame& frame, Operand& host) {
    constexpr int kFrom = 1, kTo = 2;
    Operand from = tensor;
    from.number = kFrom;
    from.aliasOf = nullptr;
    host = from;
    host.number = kTo;
    host.channelBlock = 1;
    host.onDevice = host.wide = false;
    const DeviceBlockPtr block = device.allocate(host.storageBytes(), DeviceUse::Download);
    Frame own(kTo + 1);
    own.place(kFrom, frame.device(tensor));
    own.place(kTo, DevicePlace{block.get(), 0});
    const std::shared_ptr<Execution> copy = device.createDownload(from, host);
    copy->prepare();
    const DeviceStep step{copy, 0};
    device.record({&step, 1}, own)->run();
    AlignedBuffer values(host.storageBytes());
    std::memcpy(values.data(), block->host(), static_cast<size_t>(host.storageBytes()));
    return values;
}

}  // namespace mnnc
