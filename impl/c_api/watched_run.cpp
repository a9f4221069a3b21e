// Calls the functions of a caller around the operators of a run, and at its end.
#include "c_api/watched_run.h"

#include "base/float_mode.h"
#include "c_api/guard.h"
#include "c_api/session_info.h"
#include "c_api/session_log.h"
#include "session/run_observer.h"

namespace mnnc {

namespace {

// Calls a caller's functions around the commands of a run.
class CallbackObserver final : public RunObserver {
  public:
    CallbackObserver(SessionObject& session, uint64_t handle, const mnn_run_options_t& options)
        : session_(session), handle_(handle), options_(options) {}
    ~CallbackObserver() override { hide(); }
    bool before(const OpCall& call, const Frame& frame) override {
        return !options_.before || ask(options_.before, call, call.inputs, frame, -1) != MNN_OP_SKIP;
    }
    void after(const OpCall& call, const Frame& frame, double deviceMs) override {
        if (options_.after && ask(options_.after, call, call.outputs, frame, deviceMs) == MNN_OP_SKIP)
            fail(Status::InvalidValue,
                 "MNN_OP_SKIP came back from the callback after operator '%s', where it is not allowed",
                 call.record.name.c_str());
    }

    bool wantsDeviceTimes() const noexcept override { return options_.device_times != 0; }

  private:
    int32_t ask(mnn_op_callback callback, const OpCall& call, const std::vector<Operand*>& tensors, const Frame& frame,
                double deviceMs) {
        show(tensors, frame);
        mnn_op_info_t info = describe(call.record, *session_.impl);
        info.device_ms = deviceMs;
        session_.callbackThread.store(thisThread(), std::memory_order_relaxed);
        const int32_t answer = invoke(callback, info);
        hide();
        if (answer == MNN_OP_STOP)
            fail(Status::CallbackStop, "a callback stopped the run at operator '%s'", call.record.name.c_str());
        if (answer != MNN_OP_RUN && answer != MNN_OP_SKIP)
            fail(Status::InvalidValue, "%d came back from a callback at operator '%s'; it is none of MNN_OP_*", answer,
                 call.record.name.c_str());
        return answer;
    }
    // Runs in the floating-point mode of the run's caller.
    int32_t invoke(mnn_op_callback callback, const mnn_op_info_t& info) {
        const ScopedFloatMode mode(floatMode_);
        return callback(options_.user_data, &info, handles_.data(), handles_.size());
    }
    // Makes handles for the tensors, valid while the callback runs.
    void show(const std::vector<Operand*>& tensors, const Frame& frame) {
        session_.observed.assign(tensors.begin(), tensors.end());
        session_.observedFrame = &frame;
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

void run(SessionObject& session, uint64_t handle, const mnn_run_options_t& options, const Cancellation& cancel) {
    const RunPlanLog plans(session);
    if (!options.before && !options.after) return session.impl->run(nullptr, cancel);
    CallbackObserver observer(session, handle, options);
    session.impl->run(&observer, cancel);
}

}  // namespace

void reportEnd(SessionObject& session, const mnn_run_options_t& options, mnn_status status) noexcept {
    if (!options.done) return;
    char sentence[kErrorBytes];
    copyText(sentence, sizeof sentence, mnn_last_error());
    session.callbackThread.store(thisThread(), std::memory_order_relaxed);
    options.done(options.user_data, status);
    session.callbackThread.store(nullptr, std::memory_order_relaxed);
    if (status != MNN_OK) setLastError(sentence);
}

mnn_status runToEnd(SessionObject& session, uint64_t handle, const mnn_run_options_t& options,
                    const Cancellation& cancel) noexcept {
    const mnn_status status = guard([&] { run(session, handle, options, cancel); });
    reportEnd(session, options, status);
    return status;
}

}  // namespace mnnc
