// Calls of the functions of interpreters.
#include <unistd.h>

#include "functions.h"

namespace faults {
namespace {

mnn_interpreter_options_t loadOptions(int32_t mode = MNN_LOAD_DEFAULT) {
    mnn_interpreter_options_t options;
    MUST(mnn_interpreter_options_init(&options, sizeof options));
    options.load_mode = mode;
    return options;
}

template <int32_t Mode>
mnn_status loadFile(Scene& scene) {
    const mnn_interpreter_options_t options = loadOptions(Mode);
    return mnn_interpreter_create_from_file(caseModel("weights__external").c_str(), &options, &scene.net);
}

void digitsBytes(Scene& scene) {
    scene.model = contentOf(MNN_C_DIGITS_MODEL);
}
void externalBytes(Scene& scene) {
    scene.model = contentOf(caseModel("weights__external"));
    scene.weights = contentOf(caseModel("weights__external") + ".weight");
}

mnn_status loadBytes(Scene& scene, const mnn_interpreter_options_t& options) {
    return mnn_interpreter_create_from_memory(scene.model.data(), scene.model.size(), &options, &scene.net);
}
template <int32_t Mode>
mnn_status loadBytes(Scene& scene) {
    return loadBytes(scene, loadOptions(Mode));
}
mnn_status loadWithWeights(Scene& scene) {
    mnn_interpreter_options_t options = loadOptions();
    options.external_weight_data = scene.weights.data();
    options.external_weight_size = scene.weights.size();
    return loadBytes(scene, options);
}

template <typename Number, mnn_status (*Ask)(const mnn_interpreter_t*, Number*)>
mnn_status number(Scene& scene) {
    Number found{};
    const mnn_status status = Ask(scene.net, &found);
    return gives(scene, status, found);
}
template <mnn_status (*Ask)(const mnn_interpreter_t*, size_t, mnn_declaration_t*)>
mnn_status declaration(Scene& scene) {
    auto found = sized<mnn_declaration_t>();
    const mnn_status status = Ask(scene.net, 0, &found);
    return gives(scene, status, found.name);
}

void named(Scene& scene, const char* file) {
    scene.file = "/tmp/mnn_c_faults." + std::to_string(getpid()) + "." + file;
}
void withCacheFile(Scene& scene) {
    digits(scene);
    named(scene, "cache");
    MUST(mnn_interpreter_set_cache_file(scene.net, scene.file.c_str()));
    const mnn_schedule_config_t config = scheduleConfig();
    MUST(mnn_session_create(scene.net, &config, &scene.session));
}

// Writes constants and updates the interpreter with them.
void updated(Scene& scene) {
    constants(scene);
    MUST(mnn_interpreter_update_constants(scene.net, scene.session));
}

mnn_status bytes(Scene& scene) {
    return filled<char>(scene.result, [&](char* buffer, size_t capacity, size_t* needed) {
        return mnn_interpreter_model_bytes(scene.net, buffer, capacity, needed);
    });
}

}  // namespace

std::vector<Function> interpreterFunctions() {
    return {
        {"mnn_interpreter_create_from_file", "", nothing, loadFile<MNN_LOAD_DEFAULT>},
        {"mnn_interpreter_create_from_file", "mapped", nothing, loadFile<MNN_LOAD_MAPPED>},
        {"mnn_interpreter_create_from_file", "read as a whole", nothing, loadFile<MNN_LOAD_CHUNKED>},
        {"mnn_interpreter_create_from_file", "that there is not", nothing,
         [](Scene& s) {
             return ends(mnn_interpreter_create_from_file("/no/such/file", nullptr, &s.net), MNN_ERROR_FILE_NOT_EXIST);
         }},
        {"mnn_interpreter_create_from_memory", "copied", digitsBytes, loadBytes<MNN_LOAD_COPY>},
        {"mnn_interpreter_create_from_memory", "borrowed", digitsBytes, loadBytes<MNN_LOAD_BORROW>},
        {"mnn_interpreter_create_from_memory", "with weights", externalBytes, loadWithWeights},
        {"mnn_interpreter_create_from_memory", "of no model", nothing,
         [](Scene& s) {
             return ends(mnn_interpreter_create_from_memory("no model", 8, nullptr, &s.net), MNN_ERROR_BAD_FORMAT);
         }},
        {"mnn_interpreter_destroy", "", digits, [](Scene& s) { return mnn_interpreter_destroy(&s.net); }},
        {"mnn_interpreter_add_operator", "", [](Scene& s) { load(s, MNN_C_SHRINK_MODEL); },
         [](Scene& s) { return s.own.add(s.net); }},
        {"mnn_interpreter_info", "", digits,
         [](Scene& s) {
             auto info = sized<mnn_model_properties_t>();
             const mnn_status status = mnn_interpreter_info(s.net, &info);
             return gives(s, status, info);
         }},
        {"mnn_interpreter_metadata", "", digits,
         [](Scene& s) {
             auto info = sized<mnn_model_properties_t>();
             MUST(mnn_interpreter_info(s.net, &info));
             const char *key = nullptr, *value = nullptr;
             const mnn_status status = mnn_interpreter_metadata(s.net, 0, &key, &value);
             return info.metadata_count ? gives(s, status, key) : ends(status, MNN_ERROR_BAD_INDEX);
         }},
        {"mnn_interpreter_input_info", "", digits, declaration<mnn_interpreter_input_info>},
        {"mnn_interpreter_output_info", "", digits, declaration<mnn_interpreter_output_info>},
        {"mnn_interpreter_parameter_count", "", digits, number<uint64_t, mnn_interpreter_parameter_count>},
        {"mnn_interpreter_parameter_count", "of weights in a file",
         [](Scene& s) { load(s, caseModel("weights__external")); }, number<uint64_t, mnn_interpreter_parameter_count>},
        {"mnn_interpreter_report", "", digits,
         [](Scene& s) {
             return filled<char>(s.result, [&](char* buffer, size_t capacity, size_t* needed) {
                 return mnn_interpreter_report(s.net, "graph", buffer, capacity, needed);
             });
         }},
        {"mnn_interpreter_set_cache", "", digits,
         [](Scene& s) { return mnn_interpreter_set_cache(s.net, "no cache", 8); }},
        {"mnn_interpreter_set_cache_file", "", digits,
         [](Scene& s) { return mnn_interpreter_set_cache_file(s.net, "/no/cache/of/pipelines"); }},
        {"mnn_interpreter_update_cache_file", "", withCacheFile,
         [](Scene& s) { return mnn_interpreter_update_cache_file(s.net, s.session); }},
        {"mnn_interpreter_update_constants", "", constants,
         [](Scene& s) { return mnn_interpreter_update_constants(s.net, s.session); }},
        {"mnn_interpreter_model_bytes", "", digits, bytes},
        {"mnn_interpreter_model_bytes", "with written constants", updated, bytes},
        {"mnn_interpreter_save", "",
         [](Scene& s) {
             updated(s);
             named(s, "saved");
         },
         [](Scene& s) {
             const mnn_status status = mnn_interpreter_save(s.net, s.file.c_str());
             if (status == MNN_OK) s.result = contentOf(s.file);
             return status;
         }},
        {"mnn_interpreter_release_model", "", open, [](Scene& s) { return mnn_interpreter_release_model(s.net); }},
        {"mnn_interpreter_release_model_keeping", "", open,
         [](Scene& s) { return mnn_interpreter_release_model_keeping(s.net, MNN_KEEP_WEIGHTS); }},
    };
}

}  // namespace faults
