// Checks that the `supports` functions of many operators share.
#pragma once
#include <algorithm>
#include <initializer_list>

#include "backends/vulkan/vulkan_backend.h"
#include "base/error.h"

namespace mnnc::vulkan {

// An empty tensor has no memory to bind.
inline bool noEmptyInput(const Command& command, std::string& reason) {
    const bool none =
        std::none_of(command.inputs.begin(), command.inputs.end(), [](const Operand* input) { return input->empty(); });
    if (!none) reason = "the Vulkan kernel takes no empty inputs";
    return none;
}

// Requires float32 for input 0 and output 0, and no empty input.
inline bool supportsFloat(const VulkanBackend&, const Command& command, std::string& reason) {
    for (const Operand* tensor : {command.inputs[0], command.outputs[0]})
        if (tensor->type != DataType::Float32)
            return refuse(reason,
                          format("the Vulkan kernel takes float32 tensors, not %s", dataTypeName(tensor->type)));
    return noEmptyInput(command, reason);
}

// The limit on the rounds of all loops of an invocation in one dispatch. After more rounds a driver may consider the
// device lost; Mesa's driver for CPUs silently ends loops after 65,535 rounds.
constexpr int64_t kMaxRounds = 60000;

// Returns the rounds of loops within one another, the outermost first. A driver also counts the round that ends a loop.
inline int64_t nestedRounds(std::initializer_list<int64_t> loops) {
    constexpr int64_t kMany = int64_t{1} << 31;  // no product of two overflows
    int64_t rounds = 0;
    for (const int64_t* loop = loops.end(); loop-- != loops.begin();)
        rounds = std::min(std::min(*loop, kMany - 1) * (rounds + 1) + 1, kMany);
    return rounds;
}

// Refuses more rounds on drivers for CPUs. On other devices they only take time.
inline bool fewRounds(const VulkanBackend& backend, int64_t rounds, std::string& reason) {
    if (rounds <= kMaxRounds || backend.gpu()->info().type != VK_PHYSICAL_DEVICE_TYPE_CPU) return true;
    return refuse(reason, format("the Vulkan kernel would take %lld rounds of loops, of which a software driver ends "
                                 "those after %lld",
                                 asLong(rounds), asLong(kMaxRounds)));
}

}  // namespace mnnc::vulkan
