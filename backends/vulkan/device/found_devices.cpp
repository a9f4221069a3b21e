// Keeps descriptions of devices in fixed storage, under a lock that a fork cannot leave taken.
#include "backends/vulkan/device/found_devices.h"

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <type_traits>

#include "base/os/threads.h"

namespace mnnc::vulkan {

namespace {

constexpr size_t kMaxDevices = 16;  // with more devices, nothing is kept

struct KeptDevice {
    char name[256], driver[512], kind[16];
    DeviceTraits traits;
};

struct Record {
    int process = 0;  // the process that wrote it; 0: there is no record
    uint64_t surroundings = 0;
    size_t count = 0;
    std::array<KeptDevice, kMaxDevices> devices{};
    char reason[1024] = {};
};
static_assert(std::is_trivially_destructible_v<Record>);

constinit Record record;
constinit std::atomic<int> holder{0};  // the process that holds the record; 0: none

// Held while the record is copied. A fork may leave it held by a thread that the child does not have: the child then
// takes the lock, and finds the record of another process.
class RecordLock {
  public:
    RecordLock() noexcept {
        const int own = os::processNumber();
        for (int found = 0; !holder.compare_exchange_weak(found, own, std::memory_order_acquire);)
            if (found == own) {
                std::this_thread::yield();
                found = 0;
            }
    }
    ~RecordLock() { holder.store(0, std::memory_order_release); }
    RecordLock(const RecordLock&) = delete;
    RecordLock& operator=(const RecordLock&) = delete;
};

// Returns false when the text does not fit.
template <size_t kBytes>
bool keepText(char (&place)[kBytes], const std::string& text) noexcept {
    if (text.size() >= kBytes) return false;
    std::memcpy(place, text.c_str(), text.size() + 1);
    return true;
}

bool keep(KeptDevice& kept, const DeviceDescription& device) noexcept {
    kept.traits = device;
    return keepText(kept.name, device.name) && keepText(kept.driver, device.driver) && keepText(kept.kind, device.kind);
}

}  // namespace

void keepFound(uint64_t surroundings, const FoundDevices& found) noexcept {
    const RecordLock lock;
    record.process = 0;
    if (found.devices.size() > kMaxDevices || !keepText(record.reason, found.reason)) return;
    for (size_t i = 0; i < found.devices.size(); ++i)
        if (!keep(record.devices[i], found.devices[i])) return;
    record.count = found.devices.size();
    record.surroundings = surroundings;
    record.process = os::processNumber();
}

bool lastFound(uint64_t surroundings, FoundDevices& found) {
    found = {};
    found.devices.reserve(kMaxDevices);
    const RecordLock lock;
    if (record.process != os::processNumber() || record.surroundings != surroundings) return false;
    found.reason = record.reason;
    for (size_t i = 0; i < record.count; ++i) {
        const KeptDevice& kept = record.devices[i];
        static_cast<DeviceTraits&>(found.devices.emplace_back()) = kept.traits;
        found.devices[i].name = kept.name;
        found.devices[i].driver = kept.driver;
        found.devices[i].kind = kept.kind;
    }
    return true;
}

}  // namespace mnnc::vulkan
