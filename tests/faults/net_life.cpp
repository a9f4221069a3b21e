// The life of a net: load, operators and a backend of the host, sessions, runs of all kinds, resizes, the end.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "life.h"
#include "middle_tensor.h"
#include "own.h"

namespace faults {
namespace {

struct Watched {
    mnn_cancel_t* cancel = nullptr;
    long before = 0, after = 0;
};
int32_t countBefore(void* user, const mnn_op_info_t*, const mnn_tensor_t* const*, size_t) {
    ++static_cast<Watched*>(user)->before;
    return MNN_OP_RUN;
}
int32_t countAfter(void* user, const mnn_op_info_t*, const mnn_tensor_t* const*, size_t) {
    ++static_cast<Watched*>(user)->after;
    return MNN_OP_RUN;
}
int32_t cancelAtFirst(void* user, const mnn_op_info_t*, const mnn_tensor_t* const*, size_t) {
    MUST(mnn_cancel_trigger(static_cast<Watched*>(user)->cancel));
    return MNN_OP_RUN;
}

// Bytes and weights that are lent to an interpreter: a call that fails releases both, once.
struct Lent {
    int calls = 0, bytes = 0, weights = 0;
    mnn_status load(mnn_interpreter_t** net) {
        mnn_interpreter_options_t options;
        MUST(mnn_interpreter_options_init(&options, sizeof options));
        options.load_mode = MNN_LOAD_BORROW;
        options.bytes_finalizer = [](void* lent) { ++static_cast<Lent*>(lent)->bytes; };
        options.bytes_user_data = options.external_weight_user_data = this;
        options.external_weight_reader = [](void*, uint64_t, void*, size_t) -> mnn_status { return MNN_OK; };
        options.external_weight_size = 1;
        options.external_weight_finalizer = [](void* lent) { ++static_cast<Lent*>(lent)->weights; };
        ++calls;
        const mnn_status status =
            mnn_interpreter_create_from_memory(subject.bytes.data(), subject.bytes.size(), &options, net);
        check(status == MNN_OK ? calls - 1 : calls);
        return status;
    }
    void check(int returned) const {
        if (bytes != returned || weights != returned) complain("what was lent was not given back once", "");
    }
};

void compare(const mnn_session_t* session, const Bytes& wanted, const char* when) {
    if (outputs(session) != wanted) complain("other outputs than undisturbed", when);
}

// Runs the net in two paths that meet half-way.
void liveInPaths(Life& life, mnn_interpreter_t* net, Expected& expected, bool first) {
    const char* middle = middle_tensor(net);
    if (!middle) return;
    mnn_schedule_config_t configs[2];
    for (mnn_schedule_config_t& config : configs) MUST(mnn_schedule_config_init(&config, sizeof config));
    configs[0].forward_type = subject.forwardType;
    configs[0].outputs = &middle;
    configs[0].output_count = 1;
    mnn_session_t* session = nullptr;
    life.call(CreatePaths, [&] { return mnn_session_create_paths(net, configs, 2, &session); });
    fill(session);
    MUST(mnn_session_run(session));
    if (first) expected.paths = outputs(session);
    compare(session, expected.paths, "after the first run of paths");
    mnn_tensor_t* input = nullptr;
    MUST(mnn_session_input_at(session, 0, &input));
    MUST(setBatch(session, shapeOf(input).at(0) + 1));
    life.call(ResizePaths, [&] { return mnn_session_resize(session); });
    fill(session);
    MUST(mnn_session_run(session));
    if (first) expected.resizedPaths = outputs(session);
    compare(session, expected.resizedPaths, "after the resize of paths");
    MUST(mnn_session_destroy(&session));
}

// Binds the first output, and the input if it accepts any values, to memory of the device that the session creates;
// then releases them.
void liveInBuffers(Life& life, mnn_session_t* session) {
    mnn_device_buffer_t made;
    MUST(mnn_device_buffer_init(&made, sizeof made));
    made.kind = MNN_BUFFER_OPAQUE_FD;
    made.allocate = 1;
    mnn_tensor_t *input = nullptr, *output = nullptr;
    mnn_tensor_properties_t info{};
    info.struct_size = sizeof info;
    MUST(mnn_session_input_at(session, 0, &input));
    MUST(mnn_session_output_at(session, 0, &output));
    MUST(mnn_tensor_info(input, &info));
    const bool both = inputCount(session) == 1 && info.type == MNN_TYPE_FLOAT32;
    const auto bind = [&] {
        const mnn_status first = both ? mnn_session_bind_input_buffer(session, input, &made) : MNN_OK;
        if (first != MNN_OK) return first;
        const mnn_status second = mnn_session_bind_output_buffer(session, output, &made);
        return second == MNN_ERROR_BAD_STATE ? MNN_OK : second;  // its size is known only in a run
    };
    const mnn_status there = bind();
    MUST(mnn_session_bind_output_buffer(session, output, nullptr));
    if (both) MUST(mnn_session_bind_input_buffer(session, input, nullptr));
    if (there == MNN_ERROR_NOT_SUPPORTED) return;  // a driver without such memory
    life.call(Bind, bind);
    life.call(BoundRun, [&] { return mnn_session_run(session); });
    MUST(mnn_session_bind_output_buffer(session, output, nullptr));
    if (both) MUST(mnn_session_bind_input_buffer(session, input, nullptr));
    fill(session);
    MUST(mnn_session_run(session));
}

}  // namespace

long liveThrough(const Point& point, Expected& expected) {
    subject.now = point;
    Life life(point);
    const bool first = expected.operators < 0;
    mnn_interpreter_t* net = nullptr;
    mnn_session_t* session = nullptr;
    life.call(Load, [&] { return mnn_interpreter_create_from_file(subject.path, nullptr, &net); });
    Lent lent;
    mnn_interpreter_t* borrower = nullptr;
    life.call(Borrow, [&] { return lent.load(&borrower); });
    MUST(mnn_interpreter_destroy(&borrower));
    lent.check(lent.calls);
    mnn_declaration_t declaration{};
    declaration.struct_size = sizeof declaration;
    life.call(Declare, [&] { return mnn_interpreter_output_info(net, 0, &declaration); });
    Own own;
    life.call(Register, [&] { return own.add(net); });
    mnn_schedule_config_t config;
    MUST(mnn_schedule_config_init(&config, sizeof config));
    config.forward_type = subject.forwardType;
    config.threads = 2;
    OwnBackend backend;
    if (subject.ownBackend) {
        MUST(mnn_runtime_create(nullptr, &backend.runtime));
        life.call(Backend, [&] { return backend.add(); });
        config.runtime = backend.runtime;
        config.forward_type = backend.forwardType;
    }
    life.call(Create, [&] { return mnn_session_create(net, &config, &session); });
    const auto run = [&] { return mnn_session_run(session); };
    fill(session);
    // This is also the first run of the created session, which plans stages and branches.
    life.call(Run, run);
    if (first) expected.created = outputs(session);
    compare(session, expected.created, "after the first run");

    // The first submitted run, which creates the thread.
    life.call(Submit, [&] {
        const mnn_status status = mnn_session_submit(session, nullptr);
        return status != MNN_OK ? status : mnn_session_wait(session, -1);
    });
    compare(session, expected.created, "after a submitted run");
    if (subject.forwardType == MNN_FORWARD_VULKAN) {
        liveInBuffers(life, session);
        compare(session, expected.created, "after runs in buffers of the device");
    }

    int32_t batch = 0;
    {
        mnn_tensor_t* input = nullptr;
        MUST(mnn_session_input_at(session, 0, &input));
        batch = shapeOf(input).at(0);
    }
    MUST(setBatch(session, batch + 1));
    life.call(Resize, [&] { return mnn_session_resize(session); });
    fill(session);
    MUST(run());
    if (first) expected.resized = outputs(session);
    compare(session, expected.resized, "after the resize");

    Watched watched;
    mnn_run_options_t options;
    MUST(mnn_run_options_init(&options, sizeof options));
    options.before = countBefore;
    options.after = countAfter;
    options.user_data = &watched;
    const auto runWithOptions = [&] {
        watched.before = watched.after = 0;
        return mnn_session_run_with_options(session, &options);
    };
    life.call(Callbacks, runWithOptions);
    if (first) expected.operators = watched.before;
    if (watched.before != expected.operators || watched.after != expected.operators)
        complain("callbacks were left out", "");
    compare(session, expected.resized, "after a run with callbacks");

    MUST(mnn_cancel_create(&watched.cancel));
    options.cancel = watched.cancel;
    options.before = cancelAtFirst;
    options.after = nullptr;
    // Work that a device executes in one submission ends before it notices a cancellation.
    if (subject.forwardType != MNN_FORWARD_CPU) MUST(mnn_cancel_trigger(watched.cancel));
    life.call(Cancel, runWithOptions, MNN_ERROR_CANCELLED);
    MUST(mnn_cancel_destroy(&watched.cancel));
    MUST(run());
    compare(session, expected.resized, "after a cancelled run");

    // Resizes back to the first shape, whose plan is kept.
    MUST(setBatch(session, batch));
    life.call(Return, [&] { return mnn_session_resize(session); });
    fill(session);
    MUST(run());
    compare(session, expected.created, "after the second resize");
    life.call(Trim, [&] { return mnn_session_trim(session); });
    bool needed = false;  // where a GPU could not allocate the smaller memory
    MUST(mnn_session_needs_resize(session, &needed));
    if (needed) {
        MUST(mnn_session_resize(session));
        fill(session);
        MUST(run());
    }
    compare(session, expected.created, "after the trim");
    MUST(setBatch(session, batch + 1));
    MUST(mnn_session_resize(session));
    fill(session);
    MUST(run());
    compare(session, expected.resized, "after the third resize");
    liveInPaths(life, net, expected, first);

    life.call(Release, [&] { return mnn_interpreter_release_model(net); });
    MUST(run());
    compare(session, expected.resized, "after the release");

    // Requests fail from then on: no memory is available for cleaning up, whichever phase failed.
    if (point.extent == Extent::FromThen && point.phase != Destroy) arm(Call::Memory, 1, Extent::FromThen, ENOMEM);
    life.call(Destroy, [&] {
        const mnn_status status = mnn_session_destroy(&session);
        return status != MNN_OK ? status : mnn_interpreter_destroy(&net);
    });
    disarm();
    MUST(mnn_runtime_destroy(&backend.runtime));
    if (backend.finalized != (subject.ownBackend ? 1 : 0)) complain("the backend was not finalized once", "");
    if (session || net) complain("a handle is left", "");
    if (own.finalized != 1) complain("the operator was not finalized once", "");
    return life.seen();
}

}  // namespace faults
