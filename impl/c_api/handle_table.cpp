// The slots of the table, their generations, and the counts of users.
#include "c_api/handle_table.h"

#include "base/error.h"

namespace mnnc {

namespace {

// Layout of the word: generation 32 bits, alone 1, readers 15, pins 16.
constexpr uint64_t kPin = 1;
constexpr uint64_t kPins = 0xffff;
constexpr uint64_t kReader = uint64_t{1} << 16;
constexpr uint64_t kReaders = uint64_t{0x7fff} << 16;
constexpr uint64_t kAlone = uint64_t{1} << 31;
constexpr int kGenerationShift = 32;
// A slot with this generation is not used again.
constexpr uint32_t kLastGeneration = 0xfffffffe;

// Layout of a handle: a mark 8 bits, generation 32, slot 20, zeros 3. With the mark the value is no valid address on
// 64-bit systems, so that tools and garbage collectors never take it for one.
constexpr uint64_t kMark = uint64_t{0x4d} << 56;
constexpr int kSlotShift = 3;
constexpr int kHandleGenerationShift = 23;
static_assert(sizeof(void*) >= sizeof(uint64_t),
              "32-bit systems are not supported: their handles are too short for a slot and its generation");

struct Slot {
    std::atomic<uint64_t> word;
    std::atomic<uint64_t> payload;
    std::atomic<uint64_t> detail;  // kind, flags, index; for a free slot, the next free one
};

Slot slots[handles::kSlots];
std::atomic<uint32_t> begun;      // slots that have been taken at least once
std::atomic<uint64_t> firstFree;  // a count of changes 32 bits, slot + 1: 32 bits (0: none)

uint32_t generationOf(uint64_t word) noexcept {
    return static_cast<uint32_t>(word >> kGenerationShift);
}

struct Decoded {
    uint32_t slot = 0, generation = 0;
};

bool decode(uint64_t handle, Decoded& result) noexcept {
    result.slot = static_cast<uint32_t>(handle >> kSlotShift) & (handles::kSlots - 1);
    result.generation = static_cast<uint32_t>(handle >> kHandleGenerationShift);
    const uint64_t again =
        kMark | uint64_t{result.generation} << kHandleGenerationShift | uint64_t{result.slot} << kSlotShift;
    return again == handle && (result.generation & 1);
}

Slot& slotOf(uint64_t handle) noexcept {
    return slots[static_cast<uint32_t>(handle >> kSlotShift) & (handles::kSlots - 1)];
}

// Free slots form a stack without locks (Treiber, "Systems Programming: Coping with Parallelism", 1986). The count of
// changes lets an exchange fail that has read an outdated next slot.
void pushFree(uint32_t slot) noexcept {
    uint64_t head = firstFree.load(std::memory_order_relaxed);
    uint64_t wanted = 0;
    do {
        slots[slot].detail.store(head & 0xffffffff, std::memory_order_relaxed);
        wanted = ((head >> 32) + 1) << 32 | (slot + 1);
    } while (!firstFree.compare_exchange_weak(head, wanted, std::memory_order_acq_rel));
}

bool popFree(uint32_t& slot) noexcept {
    uint64_t head = firstFree.load(std::memory_order_acquire);
    uint64_t wanted = 0;
    do {
        if ((head & 0xffffffff) == 0) return false;
        slot = static_cast<uint32_t>(head) - 1;
        const uint64_t next = slots[slot].detail.load(std::memory_order_relaxed) & 0xffffffff;
        wanted = ((head >> 32) + 1) << 32 | next;
    } while (!firstFree.compare_exchange_weak(head, wanted, std::memory_order_acq_rel));
    return true;
}

bool takeSlot(uint32_t& slot) noexcept {
    if (popFree(slot)) return true;
    uint32_t next = begun.load(std::memory_order_relaxed);
    while (next < handles::kSlots)
        if (begun.compare_exchange_weak(next, next + 1, std::memory_order_relaxed)) {
            slot = next;
            return true;
        }
    return false;
}

HandleEntry entryOf(const Slot& slot) noexcept {
    HandleEntry entry;
    entry.payload = slot.payload.load(std::memory_order_acquire);
    const uint64_t detail = slot.detail.load(std::memory_order_acquire);
    entry.kind = static_cast<HandleKind>(detail & 0xff);
    entry.flags = static_cast<uint8_t>(detail >> 8);
    entry.index = static_cast<uint32_t>(detail >> 32);
    return entry;
}

// Adds to a counter of the word while `allowed` accepts the word.
template <typename Allowed>
bool change(Slot& slot, uint64_t add, Allowed&& allowed) noexcept {
    uint64_t word = slot.word.load(std::memory_order_relaxed);
    do {
        if (!allowed(word)) return false;
    } while (!slot.word.compare_exchange_weak(word, word + add, std::memory_order_acq_rel));
    return true;
}

enum class Pinned { Yes, Destroyed, TooMany };

Pinned tryPin(Slot& slot, uint32_t generation) noexcept {
    Pinned result = Pinned::Yes;
    change(slot, kPin, [&](uint64_t word) {
        if (generationOf(word) != generation)
            result = Pinned::Destroyed;
        else if ((word & kPins) == kPins)
            result = Pinned::TooMany;
        else
            result = Pinned::Yes;
        return result == Pinned::Yes;
    });
    return result;
}

}  // namespace

const char* handleKindName(HandleKind kind) noexcept {
    switch (kind) {
        case HandleKind::Interpreter:
            return "an interpreter";
        case HandleKind::Session:
            return "a session";
        case HandleKind::Tensor:
            return "a tensor";
        case HandleKind::Cancel:
            return "a cancellation token";
        case HandleKind::Runtime:
            return "a runtime";
        case HandleKind::None:
            break;
    }
    return "nothing";
}

namespace handles {

uint64_t create(const HandleEntry& entry) {
    uint32_t index = 0;
    if (!takeSlot(index)) fail(Status::LimitExceeded, "there are %u handles already, which is the maximum", kSlots);
    Slot& slot = slots[index];
    slot.payload.store(entry.payload, std::memory_order_release);
    slot.detail.store(static_cast<uint64_t>(entry.kind) | uint64_t{entry.flags} << 8 | uint64_t{entry.index} << 32,
                      std::memory_order_release);
    const uint32_t generation = generationOf(slot.word.load(std::memory_order_relaxed)) + 1;
    slot.word.store(uint64_t{generation} << kGenerationShift, std::memory_order_release);
    return kMark | uint64_t{generation} << kHandleGenerationShift | uint64_t{index} << kSlotShift;
}

Found peek(uint64_t handle, HandleEntry& entry) noexcept {
    Decoded place;
    if (!decode(handle, place)) return Found::NoHandle;
    const Slot& slot = slots[place.slot];
    const uint32_t before = generationOf(slot.word.load(std::memory_order_acquire));
    if (before != place.generation) return place.generation > before ? Found::NoHandle : Found::Destroyed;
    entry = entryOf(slot);
    // The values belong to the handle only if no other handle has taken the slot meanwhile.
    const bool same = generationOf(slot.word.load(std::memory_order_relaxed)) == place.generation;
    return same ? Found::Yes : Found::Destroyed;
}

Found pin(uint64_t handle, HandleKind kind, HandleEntry& entry) {
    const Found found = peek(handle, entry);
    if (found != Found::Yes) return found;
    if (entry.kind != kind) return Found::WrongKind;
    Decoded place;
    decode(handle, place);
    switch (tryPin(slots[place.slot], place.generation)) {
        case Pinned::Yes:
            return Found::Yes;
        case Pinned::Destroyed:
            return Found::Destroyed;
        case Pinned::TooMany:
            break;
    }
    fail(Status::LimitExceeded, "65535 calls use one handle at the same time, which is the maximum");
}

bool pinCancel(uint64_t handle) noexcept {
    HandleEntry entry;
    Decoded place;
    return peek(handle, entry) == Found::Yes && entry.kind == HandleKind::Cancel && decode(handle, place) &&
           tryPin(slots[place.slot], place.generation) == Pinned::Yes;
}

void unpin(uint64_t handle) noexcept {
    Slot& slot = slotOf(handle);
    // Read this before the last pin of a destroyed handle goes, because another handle may take the slot then.
    const HandleEntry entry = entryOf(slot);
    const uint64_t before = slot.word.fetch_sub(kPin, std::memory_order_acq_rel);
    const uint32_t generation = generationOf(before);
    if ((before & kPins) != kPin || (generation & 1)) return;
    if (entry.kind == HandleKind::Interpreter || entry.kind == HandleKind::Session || entry.kind == HandleKind::Runtime)
        deleteObject(entry.kind, entry.payload);
    if (generation < kLastGeneration) pushFree(static_cast<uint32_t>(&slot - slots));
}

bool beginRead(uint64_t handle) noexcept {
    const uint32_t generation = static_cast<uint32_t>(handle >> kHandleGenerationShift);
    return change(slotOf(handle), kReader, [=](uint64_t word) {
        return !(word & kAlone) && (word & kReaders) != kReaders && generationOf(word) == generation;
    });
}

void endRead(uint64_t handle) noexcept {
    slotOf(handle).word.fetch_sub(kReader, std::memory_order_release);
}

bool beginAlone(uint64_t handle) noexcept {
    const uint32_t generation = static_cast<uint32_t>(handle >> kHandleGenerationShift);
    return change(slotOf(handle), kAlone,
                  [=](uint64_t word) { return !(word & (kAlone | kReaders)) && generationOf(word) == generation; });
}

void endAlone(uint64_t handle) noexcept {
    slotOf(handle).word.fetch_and(~kAlone, std::memory_order_release);
}

bool destroy(uint64_t handle) noexcept {
    const uint32_t generation = static_cast<uint32_t>(handle >> kHandleGenerationShift);
    Slot& slot = slotOf(handle);
    uint64_t word = slot.word.load(std::memory_order_relaxed);
    do {
        if (generationOf(word) != generation) return false;
    } while (!slot.word.compare_exchange_weak(word, uint64_t{generation + 1} << kGenerationShift | (word & kPins),
                                              std::memory_order_acq_rel));
    return true;
}

void release(uint64_t handle) noexcept {
    const bool ended = destroy(handle);
    const uint32_t generation = static_cast<uint32_t>(handle >> kHandleGenerationShift);
    if (ended && generation + 1 < kLastGeneration) pushFree(static_cast<uint32_t>(&slotOf(handle) - slots));
}

std::atomic<uint64_t>& cancelState(uint64_t handle) noexcept {
    return slotOf(handle).payload;
}

}  // namespace handles

}  // namespace mnnc
