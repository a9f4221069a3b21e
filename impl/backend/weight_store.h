// Prepared weights, made once per (parameters, variant) and shared by all sessions of an interpreter.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/aligned.h"
#include "ops/params.h"

namespace mnnc {

class WeightStore {
  public:
    using Buffer = std::shared_ptr<const AlignedBuffer>;

    // The buffer for this key; `fill` writes a new one when no session holds it. `variant` names everything
    // the bytes depend on besides the parameters (algorithm, tile, instruction set). LimitExceeded when a new
    // one would bring the store above `limit`. Locks, and waits only for whoever makes the same buffer; call it
    // in onResize only.
    Buffer get(const ParamsPtr& params, const std::string& variant, int64_t bytes, int64_t limit,
               const std::function<void(AlignedBuffer&)>& fill);

    int64_t bytes() const noexcept { return *held_; }  // of all buffers alive

  private:
    using Counter = std::shared_ptr<std::atomic<int64_t>>;
    using Key = std::pair<const Params*, std::string>;
    struct Slot {
        explicit Slot(ParamsPtr p) : params(std::move(p)) {}
        const ParamsPtr params;  // keeps the address in the key from being used again
        std::mutex mutex;
        std::weak_ptr<const AlignedBuffer> buffer;
    };
    using SlotPtr = std::shared_ptr<Slot>;
    // A buffer that counts while it lives.
    struct Counted {
        Counted(Counter counter, int64_t bytes) : held(std::move(counter)), buffer(bytes) {
            *held += static_cast<int64_t>(buffer.size());
        }
        ~Counted() { *held -= static_cast<int64_t>(buffer.size()); }
        Counted(const Counted&) = delete;
        Counted& operator=(const Counted&) = delete;
        Counter held;
        AlignedBuffer buffer;
    };

    SlotPtr slot(const ParamsPtr& params, const std::string& variant);

    const Counter held_ = std::make_shared<std::atomic<int64_t>>(0);
    std::mutex mutex_;  // of the map; never held while a slot is filled
    std::map<Key, SlotPtr> slots_;
};

}  // namespace mnnc
