// The objects behind the handles of mnn_c.h, and how a public function gets at them. The opaque types are never
// defined: a handle is a number of the table (handle_table.h).
//
// Three ways to use a session: always (names, counts, memory: beside anything), to read (any number at once, not beside
// a call that has it alone), alone (runs, resizes, writes, maps). Any other call is Busy and changes nothing.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/shared_runtime.h"
#include "base/cancellation.h"
#include "c_api/handle_table.h"
#include "c_api/host_backends.h"
#include "c_api/host_operators.h"
#include "mnn_c.h"
#include "net/declarations.h"
#include "session/session.h"

namespace mnnc {

// Owns the host's log data: the finalizer runs after the last message.
struct LogOwner {
    LogSink sink;
    mnn_finalizer finalizer = nullptr;
    LogOwner() = default;
    LogOwner(const LogOwner&) = delete;
    LogOwner& operator=(const LogOwner&) = delete;
    ~LogOwner() {
        if (finalizer) finalizer(sink.userData);
    }
};

struct InterpreterObject {
    // The cache of an earlier process, for sessions that are created from now on.
    struct {
        std::mutex mutex;
        std::string path;
        std::vector<uint8_t> bytes;
    } cache;
    std::shared_ptr<LogOwner> log;
    std::shared_ptr<const Interpreter> impl;  // as loaded: names of the model come from here
    // The constants that sessions gave back, for sessions that are created from now on.
    struct {
        std::mutex mutex;
        std::shared_ptr<const Interpreter> impl;  // null: as loaded
    } updated;
    std::shared_ptr<const Interpreter> current() {
        const std::lock_guard lock(updated.mutex);
        return updated.impl ? updated.impl : impl;
    }
    // What the model says of its outputs; made when it is first asked for.
    struct {
        std::mutex mutex;
        std::vector<std::optional<Declaration>> outputs;
    } declared;
    // Set by mnn_interpreter_release_model(). What needs the bytes of the model is refused from then on.
    struct {
        std::mutex mutex;
        bool done = false;
        std::optional<uint64_t> parameters;  // counted before the bytes went; nothing: they could not be
    } released;
    void requireModel(const char* purpose) {
        const std::lock_guard lock(released.mutex);
        if (released.done)
            fail(Status::BadState, "the bytes of the model were given back (mnn_interpreter_release_model): %s",
                 purpose);
    }
    OperatorRegistry operators;
    // File order over all graphs: graph and node.
    std::deque<std::pair<size_t, size_t>> ops;
    std::deque<std::string> typeNames;
};

// Sessions keep what is shared; the handle goes without them.
struct RuntimeObject {
    SharedRuntimePtr shared;
    BackendRegistry backends = {};
};

// A tensor of a session as its caller maps it.
struct Mapping {
    int32_t access = 0;              // MNN_MAP_*; 0: not mapped
    uint64_t plan = 0;               // of the session when it was mapped: a later plan ends it
    std::vector<uint8_t> copy = {};  // where the storage is not row-major
};

struct SessionTensor {
    uint64_t handle = 0;
    std::string name;  // never changes, unlike the engine's tensor
    Mapping mapping = {};
    int constant = -1;  // of a constant the id of its tensor
};

class Submission;

struct SessionObject {
    SessionObject();
    SessionObject(const SessionObject&) = delete;
    SessionObject& operator=(const SessionObject&) = delete;
    ~SessionObject();
    // Of the runtime, or the session's own.
    RunQueue& runQueue();

    std::shared_ptr<LogOwner> log;
    SharedRuntimePtr runtime;  // null: the session has its own
    std::unique_ptr<Session> impl;
    std::vector<SessionTensor> inputs, outputs;
    std::vector<SessionTensor> constants;  // all that have names; handles are made when they are asked for
    std::string cachePath;                 // the interpreter's when the session was created; "": none
    std::atomic<bool> cacheWritten{false};
    size_t mapped = 0;  // tensors that are
    // What the log says of the present plans; empty where it takes no such messages.
    std::set<std::string> loggedOperators;
    // The names of the functions that are inside, for the sentence of who is refused.
    std::atomic<const char*> alone{nullptr}, reader{nullptr};
    std::atomic<const void*> aloneThread{nullptr};  // of the call that has the session alone
    // The thread whose callback of a run is running: it may read the session.
    std::atomic<const void*> callbackThread{nullptr};
    std::vector<const Operand*> observed;  // what that callback is shown, and where it lies
    const Frame* observedFrame = nullptr;
    const std::unique_ptr<Submission> submission;
    std::unique_ptr<RunQueue> ownQueue;  // null before the first submitted run
};

// Marks this thread, without a thread-local that has a destructor.
const void* thisThread() noexcept;

// Keeps an interpreter while a call uses it.
class InterpreterUse {
  public:
    explicit InterpreterUse(const mnn_interpreter_t* handle);
    ~InterpreterUse() { handles::unpin(handle_); }
    InterpreterUse(const InterpreterUse&) = delete;
    InterpreterUse& operator=(const InterpreterUse&) = delete;
    InterpreterObject* operator->() const { return object_; }
    InterpreterObject& operator*() const { return *object_; }
    // False: another thread was first.
    bool destroy() const noexcept { return handles::destroy(handle_); }

  private:
    uint64_t handle_ = 0;
    InterpreterObject* object_ = nullptr;
};

// Keeps a runtime while a call uses it.
class RuntimeUse {
  public:
    RuntimeUse(const mnn_runtime_t* handle, const char* argument);
    ~RuntimeUse() { handles::unpin(handle_); }
    RuntimeUse(const RuntimeUse&) = delete;
    RuntimeUse& operator=(const RuntimeUse&) = delete;
    RuntimeObject* operator->() const { return object_; }
    // False: another thread was first.
    bool destroy() const noexcept { return handles::destroy(handle_); }

  private:
    uint64_t handle_ = 0;
    RuntimeObject* object_ = nullptr;
};

enum class Access { Always, Read, Alone };

// Keeps a session while a call uses it.
class SessionUse {
  public:
    // call: the public function, for the sentence of others. Throws NullArgument, BadHandle, Busy.
    SessionUse(const mnn_session_t* handle, Access access, const char* call);
    SessionUse(uint64_t handle, Access access, const char* call, const char* argument);
    ~SessionUse();
    SessionUse(const SessionUse&) = delete;
    SessionUse& operator=(const SessionUse&) = delete;
    SessionObject* operator->() const { return object_; }
    SessionObject& operator*() const { return *object_; }
    uint64_t handle() const noexcept { return handle_; }
    // For a session that this call has alone.
    void destroy() noexcept;
    // For a run that goes on when this call has returned: pinAgain() may throw, and leaveAlone() keeps the session
    // alone. takeBack() ends both.
    void pinAgain() const;
    void leaveAlone() noexcept;
    static void takeBack(SessionObject& session, uint64_t handle) noexcept;

  private:
    void take(const char* argument);
    [[noreturn]] void refuse(const char* argument) const;

    const uint64_t handle_;
    const Access access_;
    const char* const call_;
    SessionObject* object_ = nullptr;
    bool counted_ = false;  // as a reader, or as the one that has it alone
};

// A tensor, and its session with it.
class TensorUse {
  public:
    TensorUse(const mnn_tensor_t* handle, Access access, const char* call);
    SessionObject& session() const { return *session_; }
    bool isInput() const noexcept { return isInput_; }
    bool isConstant() const noexcept { return isConstant_; }
    size_t index() const noexcept { return index_; }
    // The tensor that a callback of a run is given; null for an input or output of the session.
    const Operand* observed() const;
    // For an input, an output or a constant of the session.
    SessionTensor& tensor() const;
    // The engine's tensor. Of an output before a plan it says nothing but the name.
    const Operand& storage() const;
    // Where its elements lie on the host; null: nowhere there.
    const void* data() const;
    // MNN_TYPE_* of the elements that the caller sees, which are half where those of the engine's tensor are float.
    int32_t type() const;
    Mapping& mapping() const { return tensor().mapping; }

  private:
    explicit TensorUse(const HandleEntry& entry, Access access, const char* call);
    const bool isInput_, isObserved_, isConstant_;
    const size_t index_;
    const SessionUse session_;
};

// Keeps a token while a call looks at it; NULL is none.
class CancelUse {
  public:
    explicit CancelUse(const mnn_cancel_t* handle);
    ~CancelUse() {
        if (handle_) handles::unpin(handle_);
    }
    CancelUse(const CancelUse&) = delete;
    CancelUse& operator=(const CancelUse&) = delete;
    Cancellation cancellation() const { return handle_ ? Cancellation(handles::cancelState(handle_)) : Cancellation(); }
    // For a token that is not NULL. destroy() returns false when another thread was first.
    void reset() const noexcept { Cancellation::reset(handles::cancelState(handle_)); }
    bool destroy() const noexcept { return handles::destroy(handle_); }

  private:
    uint64_t handle_ = 0;
};

enum TensorFlags : uint8_t { kTensorInput = 1, kTensorObserved = 2, kTensorConstant = 4 };

uint64_t createTensorHandle(uint64_t session, size_t index, uint8_t flags);

inline uint64_t valueOf(const void* handle) noexcept {
    return reinterpret_cast<uint64_t>(handle);
}
template <typename Opaque>
Opaque* handleOf(uint64_t value) noexcept {
    return reinterpret_cast<Opaque*>(value);
}

}  // namespace mnnc
