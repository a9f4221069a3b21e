// Calls of the functions of existing sessions.
#include "functions.h"

namespace faults {
namespace {

template <typename Number, mnn_status (*Ask)(const mnn_session_t*, Number*)>
mnn_status number(Scene& scene) {
    Number found{};
    const mnn_status status = Ask(scene.session, &found);
    return gives(scene, status, found);
}
template <mnn_status (*Find)(const mnn_session_t*, const char*, mnn_tensor_t**)>
mnn_status find(Scene& scene) {
    mnn_tensor_t* tensor = nullptr;
    return Find(scene.session, nullptr, &tensor);
}
template <mnn_status (*Find)(const mnn_session_t*, size_t, mnn_tensor_t**)>
mnn_status findAt(Scene& scene) {
    mnn_tensor_t* tensor = nullptr;
    return Find(scene.session, 0, &tensor);
}

// ---- Shapes and runs ------------------------------------------------------------------------------------------------

void reshaped(Scene& scene) {
    ran(scene);
    MUST(setBatch(scene.session, 3));
}
void submitted(Scene& scene) {
    ran(scene);
    MUST(mnn_session_submit(scene.session, nullptr));
}
void resized(Scene& scene) {
    reshaped(scene);
    MUST(mnn_session_resize(scene.session));
}
int32_t pass(void*, const mnn_op_info_t*, const mnn_tensor_t* const*, size_t) {
    return MNN_OP_RUN;
}
mnn_status runWatched(Scene& scene) {
    mnn_run_options_t options;
    MUST(mnn_run_options_init(&options, sizeof options));
    options.before = options.after = pass;
    options.device_times = 1;
    return mnn_session_run_with_options(scene.session, &options);
}
mnn_status submit(Scene& scene) {
    const mnn_status status = mnn_session_submit(scene.session, nullptr);
    if (status == MNN_OK) MUST(mnn_session_wait(scene.session, -1));
    return status;
}
mnn_status resize(Scene& scene) {
    mnn_resize_options_t options;
    MUST(mnn_resize_options_init(&options, sizeof options));
    return mnn_session_resize_with_options(scene.session, &options);
}

// ---- Memory of the caller -------------------------------------------------------------------------------------------

template <int32_t Format, bool Output>
mnn_status bind(Scene& scene) {
    const auto bound = [&](void* data, size_t bytes) {
        return Output ? mnn_session_bind_output(scene.session, scene.output(), data, bytes, Format)
                      : mnn_session_bind_input(scene.session, scene.input(), data, bytes, Format);
    };
    size_t bytes = 0, read = 0;
    MUST(mnn_tensor_byte_size(Output ? scene.output() : scene.input(), Format, &bytes));
    MUST(mnn_tensor_byte_size(scene.output(), MNN_FORMAT_NCHW, &read));
    scene.memory.resize(bytes + 1);  // from the second byte on, so that it is not aligned and is copied
    mnn_status status = bound(scene.memory.data() + (Format == MNN_FORMAT_NC4HW4 ? 1 : 0), bytes);
    if (status == MNN_OK) status = mnn_session_run(scene.session);
    scene.result.assign(read, 0);
    if (status == MNN_OK) status = mnn_tensor_read(scene.output(), scene.result.data(), read, MNN_FORMAT_NCHW);
    return status == MNN_OK ? bound(nullptr, 0) : status;
}

// Binds to memory that the session creates; a session on the CPU has none.
template <bool Output>
mnn_status bindBuffer(Scene& scene) {
    mnn_device_buffer_t buffer;
    MUST(mnn_device_buffer_init(&buffer, sizeof buffer));
    buffer.kind = MNN_BUFFER_OPAQUE_FD;
    buffer.allocate = 1;
    const mnn_status status = Output ? mnn_session_bind_output_buffer(scene.session, scene.output(), &buffer)
                                     : mnn_session_bind_input_buffer(scene.session, scene.input(), &buffer);
    if (forwardType == MNN_FORWARD_CPU) return ends(status, MNN_ERROR_NOT_SUPPORTED);
    if (status != MNN_OK) return status;
    const mnn_status run = mnn_session_run(scene.session);
    return run != MNN_OK ? run
           : Output      ? mnn_session_bind_output_buffer(scene.session, scene.output(), nullptr)
                         : mnn_session_bind_input_buffer(scene.session, scene.input(), nullptr);
}

// ---- Texts ----------------------------------------------------------------------------------------------------------

template <const char* const& What>
mnn_status report(Scene& scene) {
    return filled<char>(scene.result, [&](char* buffer, size_t capacity, size_t* needed) {
        return mnn_session_report(scene.session, What, buffer, capacity, needed);
    });
}
const char* const kAlgorithms = "algorithms";
const char* const kGraph = "graph";
const char* const kPlan = "plan";

void recorded(Scene& scene) {
    digits(scene);
    MUST(createRecorded(scene));
    MUST(mnn_session_resize(scene.session));
}

std::vector<Function> running() {
    return {
        {"mnn_session_resize_input", "", open,
         [](Scene& s) {
             const int32_t dims[] = {3, 1, 8, 8};
             return mnn_session_resize_input(s.session, s.input(), dims, 4);
         }},
        {"mnn_session_needs_resize", "", reshaped, number<bool, mnn_session_needs_resize>},
        {"mnn_session_resize", "", reshaped, [](Scene& s) { return mnn_session_resize(s.session); }},
        {"mnn_session_resize_with_options", "", reshaped, resize},
        {"mnn_session_resize", "after a constant was written",
         [](Scene& s) {
             constants(s);
             const double value = 1;
             mnn_tensor_t* constant = nullptr;
             const char* name = nullptr;
             size_t count = 0;
             MUST(mnn_session_constant_name(s.session, 1, &name));
             MUST(mnn_session_constant(s.session, name, &constant));
             MUST(mnn_tensor_element_count(constant, &count));
             const std::vector<double> values(count, value);
             MUST(mnn_tensor_write_as(constant, values.data(), count * sizeof value, MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
         },
         [](Scene& s) { return mnn_session_resize(s.session); }},
        {"mnn_session_trim", "", resized, [](Scene& s) { return mnn_session_trim(s.session); }},
        {"mnn_session_run", "", ran, [](Scene& s) { return mnn_session_run(s.session); }},
        {"mnn_session_run", "that needs a resize", reshaped,
         [](Scene& s) { return ends(mnn_session_run(s.session), MNN_ERROR_BAD_STATE); }},
        {"mnn_session_run_with_options", "", ran, runWatched},
        {"mnn_session_submit", "", ran, submit},
        {"mnn_session_wait", "", submitted, [](Scene& s) { return mnn_session_wait(s.session, -1); }},
        {"mnn_session_bind_input", "", ran, bind<MNN_FORMAT_NCHW, false>},
        {"mnn_session_bind_input", "in another layout", ran, bind<MNN_FORMAT_NC4HW4, false>},
        {"mnn_session_bind_input", "of halves", halves, bind<MNN_FORMAT_NC4HW4, false>},
        {"mnn_session_bind_output", "", ran, bind<MNN_FORMAT_NCHW, true>},
        {"mnn_session_bind_output", "of halves", halves, bind<MNN_FORMAT_NC4HW4, true>},
        {"mnn_session_bind_input_buffer", "", ran, bindBuffer<false>},
        {"mnn_session_bind_output_buffer", "", ran, bindBuffer<true>},
    };
}

std::vector<Function> asking() {
    return {
        {"mnn_session_input", "", open, find<mnn_session_input>},
        {"mnn_session_input", "that there is not", open,
         [](Scene& s) {
             mnn_tensor_t* tensor = nullptr;
             return ends(mnn_session_input(s.session, "none", &tensor), MNN_ERROR_NOT_FOUND);
         }},
        {"mnn_session_input_at", "", open, findAt<mnn_session_input_at>},
        {"mnn_session_output", "", open, find<mnn_session_output>},
        {"mnn_session_output_at", "", open, findAt<mnn_session_output_at>},
        {"mnn_session_constant_count", "", constants, number<size_t, mnn_session_constant_count>},
        {"mnn_session_constant_name", "", constants,
         [](Scene& s) {
             const char* name = nullptr;
             const mnn_status status = mnn_session_constant_name(s.session, 2, &name);
             return gives(s, status, name);
         }},
        {"mnn_session_constant", "", constants,
         [](Scene& s) {
             const char* name = nullptr;
             mnn_tensor_t* tensor = nullptr;
             MUST(mnn_session_constant_name(s.session, 2, &name));
             return mnn_session_constant(s.session, name, &tensor);
         }},
        {"mnn_session_path_info", "",
         [](Scene& s) {
             digits(s);
             MUST(createPaths(s));
         },
         [](Scene& s) {
             auto found = sized<mnn_session_properties_t>();
             return mnn_session_path_info(s.session, 1, &found);
         }},
        {"mnn_session_op_info", "", open,
         [](Scene& s) {
             auto found = sized<mnn_op_info_t>();
             const mnn_status status = mnn_session_op_info(s.session, 0, &found);
             return gives(s, status, found.name);
         }},
        {"mnn_session_report", "of algorithms", recorded, report<kAlgorithms>},
        {"mnn_session_report", "of the graph", recorded, report<kGraph>},
        {"mnn_session_report", "of the plan", recorded, report<kPlan>},
        {"mnn_session_cache", "", ran,
         [](Scene& s) {
             return filled<char>(s.memory, [&](char* buffer, size_t capacity, size_t* needed) {
                 return mnn_session_cache(s.session, buffer, capacity, needed);
             });
         }},
    };
}

}  // namespace

std::vector<Function> sessionFunctions() {
    std::vector<Function> all = running();
    const std::vector<Function> more = asking();
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace faults
