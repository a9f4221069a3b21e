// Prepared weights, made once per (owner, variant) and shared by all sessions of an interpreter. The owner is the
// object that the weights were made from: the parameters of an operator, or a constant that several operators may read
// (Tensor::content).
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "backend/held_memory.h"
#include "backend/weight_memory.h"

namespace mnnc {

class WeightStore {
  public:
    using Owner = std::shared_ptr<const void>;

    // Finds the buffer (a T, the same type for equal keys) of this key; `make` makes a new one of `bytes` when no
    // session holds it. `variant` names everything else that the content depends on (backend, algorithm, tile,
    // instruction set). Throws LimitExceeded when a new one would bring the store above `limit`. It locks, and waits
    // only for a thread that makes the same buffer; call it in prepare() only. `make` may call the host, whose thread
    // may request the same buffer again: it gets a private one.
    template <typename T>
    std::shared_ptr<const T> get(const Owner& owner, const std::string& variant, int64_t bytes, int64_t limit,
                                 const std::function<std::shared_ptr<T>()>& make) {
        return std::static_pointer_cast<const T>(
            find(owner, variant, bytes, limit, [&] { return std::static_pointer_cast<void>(make()); }));
    }

    int64_t bytes() const noexcept { return held_->value(); }  // of all buffers alive
    const std::shared_ptr<WeightBytes>& held() const noexcept { return held_; }
    WeightMemory& memory() noexcept { return memory_; }  // for buffers on the host

  private:
    using Key = std::pair<const void*, std::string>;
    struct Slot {
        explicit Slot(Owner o) : owner(std::move(o)) {}
        const Owner owner;  // keeps the address in the key from being reused
        std::mutex mutex;
        std::atomic<std::thread::id> maker{};  // the thread that has the mutex
        std::weak_ptr<void> buffer;
    };
    using SlotPtr = std::shared_ptr<Slot>;
    // A buffer that is counted while it lives.
    struct Counted {
        Counted(std::shared_ptr<WeightBytes> counter, int64_t size, std::shared_ptr<void> made)
            : held(std::move(counter)), bytes(size), buffer(std::move(made)) {
            held->add(bytes);
        }
        ~Counted() { held->add(-bytes); }
        Counted(const Counted&) = delete;
        Counted& operator=(const Counted&) = delete;
        const std::shared_ptr<WeightBytes> held;
        const int64_t bytes;
        const std::shared_ptr<void> buffer;
    };

    std::shared_ptr<void> find(const Owner& owner, const std::string& variant, int64_t bytes, int64_t limit,
                               const std::function<std::shared_ptr<void>()>& make);
    std::shared_ptr<void> counted(int64_t bytes, int64_t limit, const std::function<std::shared_ptr<void>()>& make);
    SlotPtr slot(const Owner& owner, const std::string& variant);

    WeightMemory memory_;
    const std::shared_ptr<WeightBytes> held_ = std::make_shared<WeightBytes>();
    std::mutex mutex_;  // guards the map; never held while a slot is filled
    std::map<Key, SlotPtr> slots_;
};

}  // namespace mnnc
