// What measurements on a device have chosen. Shared by the sessions of the device, and part of the stored cache.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mnnc::vulkan {

// A number for each problem that was measured. Threads: any.
class TuningRecord {
  public:
    std::optional<uint32_t> find(const std::string& problem) const;
    void keep(const std::string& problem, uint32_t choice);
    size_t size() const;

    std::vector<uint8_t> bytes() const;
    // Takes over what bytes() gave, without what is known already. False: the bytes are damaged, nothing changed.
    bool merge(std::span<const uint8_t> bytes);

  private:
    mutable std::mutex mutex_;
    std::map<std::string, uint32_t> choices_;
};

}  // namespace mnnc::vulkan
