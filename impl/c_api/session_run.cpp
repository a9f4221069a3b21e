// mnn_session_run(), with options and callbacks.
#include "base/float_mode.h"
#include "c_api/guard.h"
#include "c_api/session_info.h"
#include "session/run_observer.h"

using namespace mnnc;

namespace {

// The size of the struct's first version, which stays when it grows.
constexpr size_t kRunOptionsSize = sizeof(mnn_run_options_t);

// Calls a caller's functions around the commands of a run.
class CallbackObserver final : public RunObserver {
  public:
    CallbackObserver(const SessionUse& session, const mnn_run_options_t& options)
        : session_(*session), handle_(session.handle()), options_(options) {}
    ~CallbackObserver() override { hide(); }
    bool before(const OpCall& call) override {
        return !options_.before || ask(options_.before, call, call.inputs) != MNN_OP_SKIP;
    }
    void after(const OpCall& call) override {
        if (options_.after && ask(options_.after, call, call.outputs) == MNN_OP_SKIP)
            fail(Status::InvalidValue, "MNN_OP_SKIP came back from a callback after operator '%s'",
                 call.record.name.c_str());
    }

    bool wantsDeviceTimes() const noexcept override { return options_.device_times != 0; }

  private:
    int32_t ask(mnn_op_callback callback, const OpCall& call, const std::vector<Tensor*>& tensors) {
        show(tensors);
        mnn_op_info_t info = describe(call.record, *session_.impl);
        info.device_ms = call.deviceMs;
        session_.callbackThread.store(thisThread(), std::memory_order_relaxed);
        const int32_t answer = invoke(callback, info);
        hide();
        if (answer == MNN_OP_STOP)
            fail(Status::CallbackStop, "a callback stopped the run at operator '%s'",
                 call.record.name.c_str());
        if (answer != MNN_OP_RUN && answer != MNN_OP_SKIP)
            fail(Status::InvalidValue,
                 "%d came back from a callback at operator '%s'; it is none of MNN_OP_*", answer,
                 call.record.name.c_str());
        return answer;
    }
    // In the floating-point mode that the caller of the run has.
    int32_t invoke(mnn_op_callback callback, const mnn_op_info_t& info) {
        const ScopedFloatMode mode(floatMode_);
        return callback(options_.user_data, &info, handles_.data(), handles_.size());
    }
    // Handles that mean the tensors while the callback runs.
    void show(const std::vector<Tensor*>& tensors) {
        session_.observed.assign(tensors.begin(), tensors.end());
        handles_.reserve(tensors.size());
        for (size_t i = 0; i < tensors.size(); ++i)
            handles_.push_back(handleOf<mnn_tensor_t>(createTensorHandle(handle_, i, kTensorObserved)));
    }
    void hide() noexcept {
        session_.callbackThread.store(nullptr, std::memory_order_relaxed);
        for (const mnn_tensor_t* tensor : handles_) handles::release(valueOf(tensor));
        handles_.clear();
        session_.observed.clear();
    }

    SessionObject& session_;
    const uint64_t handle_;
    const mnn_run_options_t& options_;
    const FloatMode floatMode_ = FloatMode::current();
    std::vector<const mnn_tensor_t*> handles_;
};

}  // namespace

mnn_status mnn_run_options_init(mnn_run_options_t* options, size_t struct_size) {
    return guard([&] { initStruct(&required(options, "options"), struct_size, kRunOptionsSize, "options"); });
}

mnn_status mnn_session_run(mnn_session_t* session) {
    return guard([&] { SessionUse(session, Access::Alone, "mnn_session_run")->impl->run(); });
}

mnn_status mnn_session_run_with_options(mnn_session_t* session, const mnn_run_options_t* options) {
    return guard([&] {
        mnn_run_options_t given{};
        if (options) given = readStruct(*options, kRunOptionsSize, "options");
        if (given.device_times != 0 && given.device_times != 1)
            fail(Status::InvalidValue, "options.device_times is %d, it is 0 or 1", given.device_times);
        const SessionUse handle(session, Access::Alone, "mnn_session_run_with_options");
        const CancelUse cancel(given.cancel);
        if (!given.before && !given.after) return handle->impl->run(nullptr, cancel.cancellation());
        CallbackObserver observer(handle, given);
        handle->impl->run(&observer, cancel.cancellation());
    });
}
