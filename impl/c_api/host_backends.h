// The backends that a host added to a runtime.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "net/custom.h"

namespace mnnc {

class BackendRegistry {
  public:
    // Assigns the backend a forward type that is unique in this process. Throws InvalidValue for a name that is taken,
    // LimitExceeded.
    int32_t add(std::shared_ptr<const HostBackend> backend);
    // Null: this runtime has no backend of that type.
    std::shared_ptr<const HostBackend> find(int32_t forwardType) const;

  private:
    struct Entry {
        int32_t forwardType;
        std::shared_ptr<const HostBackend> backend;
    };
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
};

}  // namespace mnnc
