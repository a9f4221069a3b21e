// Calls of the functions of a session's state.
#include "failures.h"
#include "functions.h"

namespace faults {
namespace {

// Gives the inputs the shapes for a run of two tokens behind `past` ones.
void shape(mnn_session_t* session, int32_t past) {
    const int32_t dims[4][4] = {{1, 2, 4, 8}, {1, 2, 2, 8}, {1, 2, 2, 5}, {2, 1, 2, past + 2}};
    const char* const names[] = {"q", "k", "v", "mask"};
    for (size_t i = 0; i < 4; ++i) {
        mnn_tensor_t* input = nullptr;
        MUST(mnn_session_input(session, names[i], &input));
        MUST(mnn_session_resize_input(session, input, dims[i], 4));
    }
}

// Makes the session keep two rows, and plans the next run, whose tokens follow them.
void begin(Scene& scene) {
    shape(scene.session, 0);
    scene.run();
    shape(scene.session, 2);
    MUST(mnn_session_resize(scene.session));
}
// Does the same while no request fails, because a call has to leave the scene as it found it.
void beginUndisturbed(Scene& scene) {
    const bool active = plan.active.exchange(false);
    begin(scene);
    plan.active.store(active);
}
void kept(Scene& scene) {
    const mnn_schedule_config_t config = scheduleConfig();
    load(scene, MNN_C_NETS_FOLDER "/kept.mnn");
    MUST(mnn_session_create(scene.net, &config, &scene.session));
    begin(scene);
    fill(scene.session);
}
void keptTwice(Scene& scene) {
    const mnn_schedule_config_t config = scheduleConfig();
    kept(scene);
    MUST(mnn_session_create(scene.net, &config, &scene.other));
    shape(scene.other, 0);
    MUST(mnn_session_resize(scene.other));
}

uint64_t lengthOf(const mnn_session_t* session) {
    auto info = sized<mnn_state_properties_t>();
    MUST(mnn_session_state_info(session, &info));
    return info.length;
}
// Checks that a call that fails leaves the length as it was.
mnn_status keeps(mnn_session_t* session, uint64_t before, uint64_t after, mnn_status status) {
    return lengthOf(session) == (status == MNN_OK ? after : before) ? status : MNN_ERROR_INTERNAL;
}

}  // namespace

std::vector<Function> stateFunctions() {
    return {
        {"mnn_session_run", "that keeps rows", kept,
         [](Scene& s) {
             const mnn_status status = keeps(s.session, 2, 4, mnn_session_run(s.session));
             if (status == MNN_OK) MUST(mnn_session_state_erase(s.session, 2, 4));
             return status;
         }},
        {"mnn_session_state_reset", "", kept,
         [](Scene& s) {
             const mnn_status status = keeps(s.session, 2, 0, mnn_session_state_reset(s.session));
             if (status == MNN_OK) beginUndisturbed(s);
             return status;
         }},
        {"mnn_session_state_erase", "", kept,
         [](Scene& s) {
             const uint64_t before = lengthOf(s.session);
             return keeps(s.session, before, before, mnn_session_state_erase(s.session, 1, 1));
         }},
        {"mnn_session_state_reserve", "", kept,
         [](Scene& s) { return keeps(s.session, 2, 2, mnn_session_state_reserve(s.session, 700)); }},
        {"mnn_session_state_set_type", "", kept,
         [](Scene& s) { return mnn_session_state_set_type(s.session, MNN_TYPE_FLOAT32); }},
        {"mnn_session_state_copy", "", keptTwice,
         [](Scene& s) {
             const mnn_status status = keeps(s.other, 0, 2, mnn_session_state_copy(s.session, s.other));
             if (status == MNN_OK) MUST(mnn_session_state_reset(s.other));
             return status;
         }},
        {"mnn_session_state_save", "", kept,
         [](Scene& s) {
             return filled<char>(s.memory, [&](char* buffer, size_t capacity, size_t* needed) {
                 return mnn_session_state_save(s.session, buffer, capacity, needed);
             });
         }},
        {"mnn_session_state_load", "",
         [](Scene& s) {
             keptTwice(s);
             MUST(filled<char>(s.memory, [&](char* buffer, size_t capacity, size_t* needed) {
                 return mnn_session_state_save(s.session, buffer, capacity, needed);
             }));
         },
         [](Scene& s) {
             const mnn_status status =
                 keeps(s.other, 0, 2, mnn_session_state_load(s.other, s.memory.data(), s.memory.size()));
             if (status == MNN_OK) MUST(mnn_session_state_reset(s.other));
             return status;
         }},
    };
}

}  // namespace faults
