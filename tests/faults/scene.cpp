// Prepares the objects that the calls of the public functions use.
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "functions.h"

namespace faults {

int32_t forwardType = MNN_FORWARD_CPU;

Scene::~Scene() {
    MUST(mnn_session_destroy(&other));
    MUST(mnn_session_destroy(&session));
    MUST(mnn_interpreter_destroy(&made));
    MUST(mnn_interpreter_destroy(&net));
    MUST(mnn_runtime_destroy(&backend.runtime));
    MUST(mnn_runtime_destroy(&runtime));
    MUST(mnn_cancel_destroy(&cancel));
    if (!file.empty()) unlink(file.c_str());
}

mnn_tensor_t* Scene::input() const {
    mnn_tensor_t* tensor = nullptr;
    MUST(mnn_session_input_at(session, 0, &tensor));
    return tensor;
}

mnn_tensor_t* Scene::output() const {
    mnn_tensor_t* tensor = nullptr;
    MUST(mnn_session_output_at(session, 0, &tensor));
    return tensor;
}

void Scene::run() const {
    bool needed = false;
    MUST(mnn_session_needs_resize(session, &needed));
    if (needed) MUST(mnn_session_resize(session));
    fill(session);
    MUST(mnn_session_run(session));
}

Bytes contentOf(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    Bytes bytes(std::istreambuf_iterator<char>(stream), {});
    if (bytes.empty()) {
        std::printf("cannot read %s\n", file.c_str());
        std::exit(2);
    }
    return bytes;
}

std::string caseModel(const char* name) {
    return std::string(MNN_C_CASES_FOLDER "/") + name + "/model.mnn";
}

mnn_schedule_config_t scheduleConfig() {
    mnn_schedule_config_t config;
    MUST(mnn_schedule_config_init(&config, sizeof config));
    config.forward_type = forwardType;
    return config;
}

void load(Scene& scene, const std::string& model) {
    MUST(mnn_interpreter_create_from_file(model.c_str(), nullptr, &scene.net));
}

void digits(Scene& scene) {
    load(scene, MNN_C_DIGITS_MODEL);
}

namespace {

void makeSession(Scene& scene) {
    const mnn_schedule_config_t config = scheduleConfig();
    MUST(mnn_session_create(scene.net, &config, &scene.session));
}

}  // namespace

void open(Scene& scene) {
    digits(scene);
    makeSession(scene);
}

void ran(Scene& scene) {
    open(scene);
    scene.run();
}

void constants(Scene& scene) {
    load(scene, caseModel("source__types"));
    makeSession(scene);
    const char* name = nullptr;
    mnn_tensor_t* constant = nullptr;
    size_t count = 0;
    MUST(mnn_session_constant_name(scene.session, 0, &name));
    MUST(mnn_session_constant(scene.session, name, &constant));
    MUST(mnn_tensor_element_count(constant, &count));
    const std::vector<double> values(count, 2.5);
    MUST(mnn_tensor_write_as(constant, values.data(), count * sizeof(double), MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
    scene.run();
}

void halves(Scene& scene) {
    load(scene, MNN_C_NETS_FOLDER "/halves.mnn");
    makeSession(scene);
    fill(scene.session);
    MUST(mnn_session_run(scene.session));
}

}  // namespace faults
