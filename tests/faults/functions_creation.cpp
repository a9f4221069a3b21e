// Calls of the functions that create and destroy sessions, and of those that an operator of the host calls.
#include "functions.h"
#include "middle_tensor.h"

namespace faults {
namespace {

mnn_status create(Scene& scene, const mnn_schedule_config_t& config) {
    return mnn_session_create(scene.net, &config, &scene.session);
}
mnn_status createDefault(Scene& scene) {
    return create(scene, scheduleConfig());
}
void withRuntime(Scene& scene) {
    digits(scene);
    mnn_runtime_config_t config;
    MUST(mnn_runtime_config_init(&config, sizeof config));
    config.threads = 2;
    MUST(mnn_runtime_create(&config, &scene.runtime));
}
mnn_status createInRuntime(Scene& scene) {
    mnn_schedule_config_t config = scheduleConfig();
    config.runtime = scene.runtime;
    return create(scene, config);
}
mnn_status createOfNothing(Scene& scene) {
    mnn_schedule_config_t config = scheduleConfig();
    const char* none = "no such tensor";
    config.outputs = &none;
    config.output_count = 1;
    return ends(create(scene, config), MNN_ERROR_NOT_FOUND);
}
// A host that reads the attributes of its node.
void nodeOfHost(Scene& scene) {
    load(scene, MNN_C_SHRINK_MODEL);
    mnn_operator_t op;
    MUST(mnn_operator_init(&op, sizeof op));
    op.name = "SoftShrink";
    op.user_data = &scene;
    op.prepare = [](void* user, mnn_operator_call_t* call) -> mnn_status {
        static_cast<Scene*>(user)->node = call->node;
        return MNN_OK;
    };
    op.compute = [](void*, mnn_operator_call_t* call) -> mnn_status {
        std::memset(call->outputs[0]->data, 0, call->outputs[0]->bytes);
        return MNN_OK;
    };
    MUST(mnn_interpreter_add_operator(scene.net, &op));
    MUST(createDefault(scene));
}
mnn_status attribute(Scene& scene, const char* key, mnn_status wanted) {
    const mnn_attribute_t* found = nullptr;
    return ends(mnn_node_attribute(scene.node, key, &found), wanted);
}

}  // namespace

mnn_status createRecorded(Scene& scene) {
    mnn_schedule_config_t config = scheduleConfig();
    const char* kept = middle_tensor(scene.net);
    config.record_plan = config.defer_planning = 1;
    config.save_tensors = &kept;
    config.save_tensor_count = 1;
    config.memory = MNN_MEMORY_LOW;
    return mnn_session_create(scene.net, &config, &scene.session);
}
mnn_status createPaths(Scene& scene) {
    const char* middle = middle_tensor(scene.net);
    mnn_schedule_config_t configs[2] = {scheduleConfig(), scheduleConfig()};
    configs[0].outputs = &middle;
    configs[0].output_count = 1;
    return mnn_session_create_paths(scene.net, configs, 2, &scene.session);
}

std::vector<Function> creationFunctions() {
    return {
        {"mnn_session_create", "", digits, createDefault},
        {"mnn_session_create", "of a runtime", withRuntime, createInRuntime},
        {"mnn_session_create", "with its plan recorded", digits, createRecorded},
        {"mnn_session_create", "for a tensor that there is not", digits, createOfNothing},
        {"mnn_session_create", "of weights in a file", [](Scene& s) { load(s, caseModel("weights__external")); },
         createDefault},
        {"mnn_session_create", "of weights that several operators read",
         [](Scene& s) { load(s, MNN_C_NETS_FOLDER "/shared.mnn"); }, createDefault},
        {"mnn_session_create_paths", "", digits, createPaths},
        {"mnn_session_destroy", "", ran, [](Scene& s) { return mnn_session_destroy(&s.session); }},
        {"mnn_node_attribute", "", nodeOfHost, [](Scene& s) { return attribute(s, "lambd", MNN_OK); }},
        {"mnn_node_attribute", "that there is not", nodeOfHost,
         [](Scene& s) { return attribute(s, "none", MNN_ERROR_NOT_FOUND); }},
    };
}

}  // namespace faults
