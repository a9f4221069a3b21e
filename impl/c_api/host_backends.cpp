// Keeps a host's backends, and assigns forward types to them.
#include "c_api/host_backends.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/error.h"
#include "mnn_c.h"

namespace mnnc {

int32_t BackendRegistry::add(std::shared_ptr<const HostBackend> backend) {
    static std::atomic<int32_t> next{MNN_FORWARD_USER};
    const std::lock_guard lock(mutex_);
    const std::string& name = backend->name();
    const auto hasName = [&](const Entry& entry) { return entry.backend->name() == name; };
    if (std::any_of(entries_.begin(), entries_.end(), hasName))
        fail(Status::InvalidValue, "the runtime has a backend '%s' already", name.c_str());
    entries_.push_back({0, std::move(backend)});
    int32_t type = next.load();
    while (type < INT32_MAX && !next.compare_exchange_weak(type, type + 1)) {
    }
    if (type == INT32_MAX) {
        entries_.pop_back();
        fail(Status::LimitExceeded, "there are no forward types left for another backend");
    }
    return entries_.back().forwardType = type;
}

std::shared_ptr<const HostBackend> BackendRegistry::find(int32_t forwardType) const {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_)
        if (entry.forwardType == forwardType) return entry.backend;
    return nullptr;
}

}  // namespace mnnc
