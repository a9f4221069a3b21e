// The table behind all handles. The value of a handle consists of a slot and a generation, never of an address: a
// destroyed handle does not match the slot's generation any more, even if the slot or the memory is in use again.
//
// Each slot has one 64-bit word, changed by compare-and-swap: the generation (odd while the handle lives) and the users
// of the object. Pins keep it alive, several readers may read it at the same time, one call may have it alone. The
// table is zero-initialised storage of the library: no memory is freed under a reader, and dlclose() removes all of it.
// Pinning and unpinning a cancel token neither lock nor allocate, so mnn_cancel_trigger() is safe in a signal handler.
#pragma once
#include <atomic>
#include <cstdint>

namespace mnnc {

enum class HandleKind : uint8_t { None, Interpreter, Session, Tensor, Cancel, Runtime };

// "an interpreter", "a session", ...
const char* handleKindName(HandleKind kind) noexcept;

struct HandleEntry {
    HandleKind kind = HandleKind::None;
    uint64_t payload = 0;  // for an interpreter, session or runtime: its object; for a tensor: the handle of its
                           // session
    uint32_t index = 0;    // for a tensor
    uint8_t flags = 0;     // for a tensor
};

namespace handles {

constexpr uint32_t kSlots = 1u << 20;

// Makes a handle. Throws LimitExceeded when all slots are taken.
uint64_t create(const HandleEntry& entry);

enum class Found { Yes, NoHandle, Destroyed, WrongKind };

// Looks a handle up without keeping its object alive.
Found peek(uint64_t handle, HandleEntry& entry) noexcept;
// Like peek(), but the object stays until unpin(). Throws LimitExceeded when too many calls use it at once.
Found pin(uint64_t handle, HandleKind kind, HandleEntry& entry);
// Like pin() for a token, without exceptions: returns false when it is no token.
bool pinCancel(uint64_t handle) noexcept;
void unpin(uint64_t handle) noexcept;

// For a pinned handle. They return false when a call has it alone; beginAlone() also when a call reads it.
bool beginRead(uint64_t handle) noexcept;
void endRead(uint64_t handle) noexcept;
bool beginAlone(uint64_t handle) noexcept;
void endAlone(uint64_t handle) noexcept;

// Ends a pinned handle: no look-up finds it from now on. The last pin deletes the object, and ends the call that has it
// alone. Returns false when another thread was first.
bool destroy(uint64_t handle) noexcept;

// Ends a handle that is never pinned: a tensor's.
void release(uint64_t handle) noexcept;

// Returns the state of a pinned token.
std::atomic<uint64_t>& cancelState(uint64_t handle) noexcept;

}  // namespace handles

// Deletes the object of an interpreter, a session or a runtime; defined with those classes.
void deleteObject(HandleKind kind, uint64_t payload) noexcept;

}  // namespace mnnc
