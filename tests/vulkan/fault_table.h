// Replaces functions of a device's table by functions that fail at a chosen call.
#pragma once
#include <type_traits>
#include <utility>

#include "backends/vulkan/device/device.h"

namespace mnnc::vulkan {

// A counter for all replaced functions: the call at which it becomes 0 fails, and with `failsFromThen` all calls after
// it.
inline int callsLeft = 0;
inline bool failsFromThen = false;
inline VkResult injected = VK_SUCCESS;

template <auto Member>
struct Fault {
    using Function = std::remove_reference_t<decltype(std::declval<VolkDeviceTable>().*Member)>;
    static inline Function original = nullptr;

    template <typename... Arguments>
    static VkResult VKAPI_CALL call(Arguments... arguments) {
        --callsLeft;
        if (callsLeft > 0 || (callsLeft < 0 && !failsFromThen)) return original(arguments...);
        // Submitted work must end before its objects are destroyed.
        if constexpr (std::is_same_v<Function, PFN_vkWaitForFences> || std::is_same_v<Function, PFN_vkQueueWaitIdle>)
            original(arguments...);
        return injected;
    }
    template <typename... Arguments>
    static void install(VolkDeviceTable& table, VkResult(VKAPI_PTR*)(Arguments...)) {
        original = table.*Member;
        table.*Member = &call<Arguments...>;
    }
    static void restore(VolkDeviceTable& table) { table.*Member = original; }
};

// The same for several functions at once.
template <auto... Members>
struct Faults {
    static void install(VolkDeviceTable& table) { (Fault<Members>::install(table, table.*Members), ...); }
    static void restore(VolkDeviceTable& table) { (Fault<Members>::restore(table), ...); }
};

}  // namespace mnnc::vulkan
