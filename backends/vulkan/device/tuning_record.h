// The choices that measurements on a device made. The sessions of the device share them, and the stored cache contains
// them.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mnnc::vulkan {

// Holds a number for each problem that was measured. Threads: any.
class TuningRecord {
  public:
    std::optional<uint32_t> find(const std::string& problem) const;
    void keep(const std::string& problem, uint32_t choice);
    size_t size() const;

    std::vector<uint8_t> bytes() const;
    // Adds the choices in the result of bytes(), except for problems that are already known. Returns false when the
    // bytes are damaged; then nothing has changed.
    bool merge(std::span<const uint8_t> bytes);

  private:
    mutable std::mutex mutex_;
    std::map<std::string, uint32_t> choices_;
};

}  // namespace mnnc::vulkan
