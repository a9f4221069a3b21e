// Gives handles to objects, and admits or refuses the calls that use them.
#include "c_api/handles.h"

#include "c_api/guard.h"
#include "c_api/submission.h"

namespace mnnc {

namespace {

[[noreturn]] void refuseHandle(handles::Found found, const HandleEntry& entry, HandleKind wanted,
                               const char* argument) {
    if (found == handles::Found::Destroyed) fail(Status::BadHandle, "argument '%s' is a destroyed handle", argument);
    if (found == handles::Found::WrongKind)
        fail(Status::BadHandle, "argument '%s' is the handle of %s, not of %s", argument, handleKindName(entry.kind),
             handleKindName(wanted));
    fail(Status::BadHandle, "argument '%s' is no handle of this library", argument);
}

// Pins the handle and returns its entry.
HandleEntry pinned(uint64_t handle, HandleKind kind, const char* argument) {
    if (!handle) fail(Status::NullArgument, "argument '%s' is NULL", argument);
    HandleEntry entry;
    const handles::Found found = handles::pin(handle, kind, entry);
    if (found != handles::Found::Yes) refuseHandle(found, entry, kind, argument);
    return entry;
}

HandleEntry tensorEntry(const mnn_tensor_t* handle) {
    if (!handle) fail(Status::NullArgument, "argument 'tensor' is NULL");
    HandleEntry entry;
    handles::Found found = handles::peek(valueOf(handle), entry);
    if (found == handles::Found::Yes && entry.kind != HandleKind::Tensor) found = handles::Found::WrongKind;
    if (found != handles::Found::Yes) refuseHandle(found, entry, HandleKind::Tensor, "tensor");
    return entry;
}

}  // namespace

void deleteObject(HandleKind kind, uint64_t payload) noexcept {
    if (kind == HandleKind::Interpreter)
        delete reinterpret_cast<InterpreterObject*>(payload);
    else if (kind == HandleKind::Runtime)
        delete reinterpret_cast<RuntimeObject*>(payload);
    else
        delete reinterpret_cast<SessionObject*>(payload);
}

SessionObject::SessionObject() : submission(std::make_unique<Submission>()) {}

RunQueue& SessionObject::runQueue() {
    if (runtime) return *runtime->submitted;
    if (!ownQueue) ownQueue = std::make_unique<RunQueue>();
    return *ownQueue;
}

SessionObject::~SessionObject() {
    for (const std::vector<SessionTensor>* tensors : {&inputs, &outputs, &constants})
        for (const SessionTensor& tensor : *tensors)
            if (tensor.handle) handles::release(tensor.handle);
}

const void* thisThread() noexcept {
    static thread_local char mark;
    return &mark;
}

InterpreterUse::InterpreterUse(const mnn_interpreter_t* handle)
    : handle_(valueOf(handle)),
      object_(reinterpret_cast<InterpreterObject*>(pinned(handle_, HandleKind::Interpreter, "interpreter").payload)) {}

RuntimeUse::RuntimeUse(const mnn_runtime_t* handle, const char* argument)
    : handle_(valueOf(handle)),
      object_(reinterpret_cast<RuntimeObject*>(pinned(handle_, HandleKind::Runtime, argument).payload)) {}

SessionUse::SessionUse(const mnn_session_t* handle, Access access, const char* call)
    : SessionUse(valueOf(handle), access, call, "session") {}

SessionUse::SessionUse(uint64_t handle, Access access, const char* call, const char* argument)
    : handle_(handle), access_(access), call_(call) {
    object_ = reinterpret_cast<SessionObject*>(pinned(handle_, HandleKind::Session, argument).payload);
    try {
        take(argument);
    } catch (...) {
        handles::unpin(handle_);
        throw;
    }
}

void SessionUse::take(const char* argument) {
    if (access_ == Access::Read) {
        counted_ = handles::beginRead(handle_);
        if (counted_)
            object_->reader.store(call_, std::memory_order_relaxed);
        else if (object_->callbackThread.load(std::memory_order_relaxed) != thisThread())
            refuse(argument);
    } else if (access_ == Access::Alone) {
        counted_ = handles::beginAlone(handle_);
        if (!counted_) refuse(argument);
        object_->aloneThread.store(thisThread(), std::memory_order_relaxed);
        object_->alone.store(call_, std::memory_order_relaxed);
    }
}

void SessionUse::refuse(const char* argument) const {
    HandleEntry entry;
    if (handles::peek(handle_, entry) != handles::Found::Yes)
        fail(Status::BadHandle, "argument '%s' is a destroyed handle", argument);
    const char* inside = object_->alone.load(std::memory_order_relaxed);
    if (inside) {
        const bool mine = object_->aloneThread.load(std::memory_order_relaxed) == thisThread();
        if (!mine && object_->submission->pending())
            fail(Status::Busy, "%s is not possible now: the run that %s began has to be waited for first", call_,
                 inside);
        fail(Status::Busy, "%s is not possible now: %s of this session is %s", call_, inside,
             mine ? "running this callback" : "under way on another thread");
    }
    const char* reader = object_->reader.load(std::memory_order_relaxed);
    fail(Status::Busy, "%s is not possible now: another thread reads the session in %s", call_,
         reader ? reader : "another function");
}

SessionUse::~SessionUse() {
    if (counted_ && access_ == Access::Read) handles::endRead(handle_);
    if (counted_ && access_ == Access::Alone) {
        object_->alone.store(nullptr, std::memory_order_relaxed);
        object_->aloneThread.store(nullptr, std::memory_order_relaxed);
        handles::endAlone(handle_);
    }
    handles::unpin(handle_);
}

void SessionUse::pinAgain() const {
    static_cast<void>(pinned(handle_, HandleKind::Session, "session"));
}

void SessionUse::leaveAlone() noexcept {
    object_->aloneThread.store(nullptr, std::memory_order_relaxed);
    counted_ = false;
}

void SessionUse::takeBack(SessionObject& session, uint64_t handle) noexcept {
    session.alone.store(nullptr, std::memory_order_relaxed);
    handles::endAlone(handle);
    handles::unpin(handle);
}

void SessionUse::destroy() noexcept {
    handles::destroy(handle_);
    counted_ = false;
}

TensorUse::TensorUse(const mnn_tensor_t* handle, Access access, const char* call)
    : TensorUse(tensorEntry(handle), access, call) {}

TensorUse::TensorUse(const HandleEntry& entry, Access access, const char* call)
    : isInput_((entry.flags & kTensorInput) != 0),
      isObserved_((entry.flags & kTensorObserved) != 0),
      isConstant_((entry.flags & kTensorConstant) != 0),
      index_(entry.index),
      session_(entry.payload, access, call, "tensor") {}

const Operand* TensorUse::observed() const {
    if (!isObserved_) return nullptr;
    // The tensor was shown to one thread only: its callback has ended when the tensor is not in the list any more.
    if (session_->callbackThread.load(std::memory_order_relaxed) != thisThread() || index_ >= session_->observed.size())
        fail(Status::Busy, "a tensor that was shown to a callback of a run is used outside of that callback");
    return session_->observed[index_];
}

const Operand& TensorUse::storage() const {
    if (const Operand* shown = observed()) return *shown;
    Session& session = *session_->impl;
    if (isConstant_) return session.constant(tensor().constant);
    return isInput_ ? session.input(index_) : session.output(index_);
}

const void* TensorUse::data() const {
    if (const Operand* shown = observed())
        return shown->values ? shown->values : session_->observedFrame->data<void>(*shown);
    Session& session = *session_->impl;
    if (isConstant_) return session.constantData(tensor().constant);
    return isInput_ ? session.inputData(index_) : session.outputData(index_);
}

int32_t TensorUse::type() const {
    const Session& session = *session_->impl;
    const bool isHalf =
        !isObserved_ && !isConstant_ && (isInput_ ? session.inputIsHalf(index_) : session.outputIsHalf(index_));
    return isHalf ? MNN_TYPE_FLOAT16 : publicType(storage().type);
}

SessionTensor& TensorUse::tensor() const {
    if (observed()) fail(Status::BadState, "a tensor that is shown to a callback cannot be mapped or bound");
    if (isConstant_) return session_->constants[index_];
    return (isInput_ ? session_->inputs : session_->outputs)[index_];
}

CancelUse::CancelUse(const mnn_cancel_t* handle) {
    if (!handle) return;
    pinned(valueOf(handle), HandleKind::Cancel, "cancel");
    handle_ = valueOf(handle);
}

uint64_t createTensorHandle(uint64_t session, size_t index, uint8_t flags) {
    return handles::create({HandleKind::Tensor, session, static_cast<uint32_t>(index), flags});
}

}  // namespace mnnc
