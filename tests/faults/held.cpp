// A table of blocks that allocates nothing itself.
#include "held.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "interpose.h"

namespace faults {
namespace {

class Held {
  public:
    void add(const void* block, const void* caller, size_t bytes) {
        const Lock lock(*this);
        if (count_ * 2 >= kSlots) std::abort();
        size_t at = slotOf(block);
        while (slots_[at].block) at = (at + 1) % kSlots;
        slots_[at] = {block, caller, bytes};
        ++count_;
    }
    void remove(const void* block) {
        // realloc(nullptr, ...) releases nothing, but an empty slot would match it.
        if (!block) return;
        if (count_.load(std::memory_order_relaxed) == 0) return;
        const Lock lock(*this);
        size_t at = slotOf(block);
        while (slots_[at].block != block) {
            if (!slots_[at].block) return;
            at = (at + 1) % kSlots;
        }
        // Linear probing: following entries move up where they may.
        size_t hole = at;
        for (size_t next = (hole + 1) % kSlots; slots_[next].block; next = (next + 1) % kSlots) {
            const size_t home = slotOf(slots_[next].block);
            if ((next - home) % kSlots < (next - hole) % kSlots) continue;
            slots_[hole] = slots_[next];
            hole = next;
        }
        slots_[hole] = {};
        --count_;
    }
    long count() const { return count_.load(); }
    void print() {
        int printed = 0;
        for (const Slot& slot : slots_) {
            if (!slot.block || ++printed > 12) continue;
            Dl_info info{};
            dladdr(slot.caller, &info);
            std::printf(
                "    %zu bytes from %s+0x%zx\n", slot.bytes, info.dli_fname ? info.dli_fname : "?",
                static_cast<size_t>(static_cast<const char*>(slot.caller) - static_cast<const char*>(info.dli_fbase)));
        }
    }

  private:
    static constexpr size_t kSlots = size_t{1} << 18;
    struct Slot {
        const void* block;
        const void* caller;
        size_t bytes;
    };
    struct Lock {
        explicit Lock(Held& held) : owner(held) {
            while (owner.busy_.test_and_set(std::memory_order_acquire)) {
            }
        }
        ~Lock() { owner.busy_.clear(std::memory_order_release); }
        Held& owner;
    };
    static size_t slotOf(const void* block) {
        return (reinterpret_cast<uintptr_t>(block) >> 4) * 0x9e3779b97f4a7c15u >> 46;
    }
    Slot slots_[kSlots];
    std::atomic<size_t> count_;
    std::atomic_flag busy_;
};
Held held;

}  // namespace

void addHeld(const void* block, const void* caller, size_t bytes) {
    held.add(block, caller, bytes);
}

void removeHeld(const void* block) {
    held.remove(block);
}

long live() {
    return held.count();
}

void printLive() {
    held.print();
}

}  // namespace faults
