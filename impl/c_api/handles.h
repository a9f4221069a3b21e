// The objects behind the handles of mnn_c.h, and the access of public functions to them. The opaque types are never
// defined: a handle is a number of the table (handle_table.h).
//
// A call uses a session in one of three ways: always (names, counts, memory: beside any other call), to read (any
// number of calls at once, but not beside a call that has it alone), alone (runs, resizes, writes, maps). A call that
// is not admitted returns Busy and changes nothing.
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
    std::shared_ptr<const Interpreter> impl;  // as loaded: owns the names of the model
    // The constants that sessions wrote back, for sessions that are created from now on.
    struct {
        std::mutex mutex;
        std::shared_ptr<const Interpreter> impl;  // null: as loaded
    } updated;
    std::shared_ptr<const Interpreter> current() {
        const std::lock_guard lock(updated.mutex);
        return updated.impl ? updated.impl : impl;
    }
    // The model's declarations of its inputs and outputs; made on first use.
    struct {
        std::mutex mutex;
        std::optional<DeclaredTypes> types;
        std::vector<Declaration> inputs;
        std::vector<std::optional<Declaration>> outputs;
    } declared;
    // Set by mnn_interpreter_release_model_keeping(). From then on, calls that need the bytes of the model are refused.
    struct {
        std::mutex mutex;
        bool done = false, keepsWeights = false;
        std::optional<uint64_t> parameters;  // counted before the release; empty: that was impossible
    } released;
    void requireModel(const char* purpose) {
        const std::lock_guard lock(released.mutex);
        if (released.done)
            fail(Status::BadState, "the bytes of the model were given back (mnn_interpreter_release_model): %s",
                 purpose);
    }
    OperatorRegistry operators;
    // Graph and node in file order over all graphs.
    std::deque<std::pair<size_t, size_t>> ops;
    std::deque<std::string> typeNames;
};

// Sessions keep what they share; the handle may be destroyed before them.
struct RuntimeObject {
    SharedRuntimePtr shared;
    BackendRegistry backends = {};
};

// A tensor of a session while its caller maps it.
struct Mapping {
    int32_t access = 0;              // MNN_MAP_*; 0: not mapped
    uint64_t plan = 0;               // of the session when the tensor was mapped: a later plan ends the mapping
    std::vector<uint8_t> copy = {};  // where the storage is not row-major
};

struct SessionTensor {
    uint64_t handle = 0;
    std::string name;  // unlike the name of the engine's tensor, it never changes
    Mapping mapping = {};
    int constant = -1;  // for a constant, the id of its tensor
};

class Submission;

struct SessionObject {
    SessionObject();
    SessionObject(const SessionObject&) = delete;
    SessionObject& operator=(const SessionObject&) = delete;
    ~SessionObject();
    // The runtime's queue, or the session's own.
    RunQueue& runQueue();

    std::shared_ptr<LogOwner> log;
    SharedRuntimePtr runtime;  // null: the session has its own resources
    std::unique_ptr<Session> impl;
    std::vector<SessionTensor> inputs, outputs;
    std::vector<SessionTensor> constants;  // of the operators Const and TrainableParam; handles are made on request
    std::string cachePath;                 // the interpreter's when the session was created; "": none
    std::atomic<bool> cacheWritten{false};
    size_t mapped = 0;  // number of mapped tensors
    // Operators that the log has reported for the present plans; empty where the log takes no such messages.
    std::set<std::string> loggedOperators;
    // The names of the functions that use the session, for the sentence of a refused call.
    std::atomic<const char*> alone{nullptr}, reader{nullptr};
    std::atomic<const void*> aloneThread{nullptr};  // the call that has the session alone
    // The thread that is in `before`, `after` or `done` of a run, and may read the session meanwhile.
    std::atomic<const void*> callbackThread{nullptr};
    std::vector<const Operand*> observed;  // the tensors that are shown to this callback
    const Frame* observedFrame = nullptr;
    const std::unique_ptr<Submission> submission;
    std::unique_ptr<RunQueue> ownQueue;  // null before the first submitted run
};

// Identifies this thread, without a thread-local that has a destructor.
const void* thisThread() noexcept;

// Keeps an interpreter alive while a call uses it.
class InterpreterUse {
  public:
    explicit InterpreterUse(const mnn_interpreter_t* handle);
    ~InterpreterUse() { handles::unpin(handle_); }
    InterpreterUse(const InterpreterUse&) = delete;
    InterpreterUse& operator=(const InterpreterUse&) = delete;
    InterpreterObject* operator->() const { return object_; }
    InterpreterObject& operator*() const { return *object_; }
    // Returns false when another thread was first.
    bool destroy() const noexcept { return handles::destroy(handle_); }

  private:
    uint64_t handle_ = 0;
    InterpreterObject* object_ = nullptr;
};

// Keeps a runtime alive while a call uses it.
class RuntimeUse {
  public:
    RuntimeUse(const mnn_runtime_t* handle, const char* argument);
    ~RuntimeUse() { handles::unpin(handle_); }
    RuntimeUse(const RuntimeUse&) = delete;
    RuntimeUse& operator=(const RuntimeUse&) = delete;
    RuntimeObject* operator->() const { return object_; }
    // Returns false when another thread was first.
    bool destroy() const noexcept { return handles::destroy(handle_); }

  private:
    uint64_t handle_ = 0;
    RuntimeObject* object_ = nullptr;
};

enum class Access { Always, Read, Alone };

// Keeps a session alive while a call uses it.
class SessionUse {
  public:
    // call: the public function, for error sentences of other calls. Throws NullArgument, BadHandle, Busy.
    SessionUse(const mnn_session_t* handle, Access access, const char* call);
    SessionUse(uint64_t handle, Access access, const char* call, const char* argument);
    ~SessionUse();
    SessionUse(const SessionUse&) = delete;
    SessionUse& operator=(const SessionUse&) = delete;
    SessionObject* operator->() const { return object_; }
    SessionObject& operator*() const { return *object_; }
    uint64_t handle() const noexcept { return handle_; }
    // This call must have the session alone.
    void destroy() noexcept;
    // For a run that continues after this call has returned: pinAgain() may throw, leaveAlone() keeps other calls out.
    // takeBack() ends both.
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
    bool counted_ = false;  // as a reader, or as the call that has it alone
};

// Keeps a tensor and its session alive while a call uses them.
class TensorUse {
  public:
    TensorUse(const mnn_tensor_t* handle, Access access, const char* call);
    SessionObject& session() const { return *session_; }
    bool isInput() const noexcept { return isInput_; }
    bool isConstant() const noexcept { return isConstant_; }
    size_t index() const noexcept { return index_; }
    // The tensor that is shown to a callback of a run; null for an input or output of the session.
    const Operand* observed() const;
    // For an input, an output or a constant of the session.
    SessionTensor& tensor() const;
    // The engine's tensor. For an output before a plan, only its name is valid.
    const Operand& storage() const;
    // Address of the elements on the host; null: they are not there.
    const void* data() const;
    // MNN_TYPE_* of the elements that the caller sees: half tensors are floats in the engine.
    int32_t type() const;
    Mapping& mapping() const { return tensor().mapping; }

  private:
    explicit TensorUse(const HandleEntry& entry, Access access, const char* call);
    const bool isInput_, isObserved_, isConstant_;
    const size_t index_;
    const SessionUse session_;
};

// Keeps a token alive while a call uses it; NULL: there is none.
class CancelUse {
  public:
    explicit CancelUse(const mnn_cancel_t* handle);
    ~CancelUse() {
        if (handle_) handles::unpin(handle_);
    }
    CancelUse(const CancelUse&) = delete;
    CancelUse& operator=(const CancelUse&) = delete;
    Cancellation cancellation() const { return handle_ ? Cancellation(handles::cancelState(handle_)) : Cancellation(); }
    // The token must not be NULL. destroy() returns false when another thread was first.
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
