// The table behind all handles. A handle's value is a slot and a generation, never an address: a destroyed handle
// does not match the slot's generation any more, even when the slot or the memory is in use again.
//
// Each slot has one 64-bit word, changed by compare-and-swap: the generation (odd while the handle lives) and who uses
// the object: pins keep it alive, readers read it at the same time, one call may have it alone. The table is
// zero-initialised storage of the library: nothing is freed under a reader, and dlclose() removes all of it. Looking a
// handle up, and giving it back, neither locks nor allocates; both may be done in a signal handler.
#pragma once
#include <atomic>
#include <cstdint>

namespace mnnc {

enum class HandleKind : uint8_t { None, Interpreter, Session, Tensor, Cancel, Runtime };

// "an interpreter", "a session", ...
const char* handleKindName(HandleKind kind) noexcept;

struct HandleEntry {
    HandleKind kind = HandleKind::None;
    uint64_t payload = 0;  // of an interpreter, session or runtime: its object; of a tensor: the handle of its session
    uint32_t index = 0;    // of a tensor
    uint8_t flags = 0;     // of a tensor
};

namespace handles {

constexpr uint32_t kSlots = 1u << 20;

// A new handle. Throws LimitExceeded when all slots are taken.
uint64_t create(const HandleEntry& entry);

enum class Found { Yes, NoHandle, Destroyed, WrongKind };

// The meaning of a handle, without keeping its object alive.
Found peek(uint64_t handle, HandleEntry& entry) noexcept;
// The same, and the object stays until unpin(). Throws LimitExceeded when too many calls use it at once.
Found pin(uint64_t handle, HandleKind kind, HandleEntry& entry);
// As pin() for a token, without exceptions: false when it is none.
bool pinCancel(uint64_t handle) noexcept;
void unpin(uint64_t handle) noexcept;

// For a pinned handle. They return false when a call has it alone (the second also when a call reads it).
bool beginRead(uint64_t handle) noexcept;
void endRead(uint64_t handle) noexcept;
bool beginAlone(uint64_t handle) noexcept;
void endAlone(uint64_t handle) noexcept;

// Ends a pinned handle: no look-up finds it from now on. The object goes with the last pin, and so does the call that
// has it alone. False: another thread was first.
bool destroy(uint64_t handle) noexcept;

// Ends a handle that is never pinned: that of a tensor.
void release(uint64_t handle) noexcept;

// The state of a pinned token.
std::atomic<uint64_t>& cancelState(uint64_t handle) noexcept;

}  // namespace handles

// Deletes the object of an interpreter, a session or a runtime; defined where those are.
void deleteObject(HandleKind kind, uint64_t payload) noexcept;

}  // namespace mnnc
