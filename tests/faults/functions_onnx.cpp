// Calls of the functions of libmnn_c_onnx.
#include <unistd.h>

#include "functions.h"
#include "mnn_c_onnx.h"

namespace faults {
namespace {

struct Result {
    mnn_onnx_result_t* handle = nullptr;
    ~Result() { MUST(mnn_onnx_result_destroy(&handle)); }
};

// Loads one of the seeds of fuzzing.
void file(Scene& scene, const char* name) {
    scene.model = contentOf(std::string(MNN_C_ONNX_FOLDER "/") + name + ".onnx");
}

mnn_onnx_options_t options(int32_t weights = MNN_ONNX_WEIGHTS_FLOAT32) {
    mnn_onnx_options_t made;
    MUST(mnn_onnx_options_init(&made, sizeof made));
    made.weights = weights;
    return made;
}

// The bytes of the net are the result.
mnn_status read(Scene& scene, const mnn_onnx_result_t* result) {
    const void* data = nullptr;
    size_t size = 0;
    const mnn_status status = mnn_onnx_result_data(result, &data, &size);
    const auto* bytes = static_cast<const unsigned char*>(data);
    if (status == MNN_OK) scene.result.assign(bytes, bytes + size);
    return status;
}

template <int32_t weights>
mnn_status convert(Scene& scene) {
    const mnn_onnx_options_t wanted = options(weights);
    Result made;
    const mnn_status status = mnn_onnx_convert_memory(scene.model.data(), scene.model.size(), &wanted, &made.handle);
    return status == MNN_OK ? read(scene, made.handle) : status;
}

mnn_status convertFile(Scene&) {
    Result made;
    return mnn_onnx_convert_file(MNN_C_ONNX_FOLDER "/small_model.onnx", nullptr, &made.handle);
}

// Prepares a result that the call reads.
void converted(Scene& scene, const char* name, int32_t beside) {
    file(scene, name);
    mnn_onnx_options_t wanted = options();
    wanted.weights_beside = beside;
    const auto made = std::make_shared<Result>();
    MUST(mnn_onnx_convert_memory(scene.model.data(), scene.model.size(), &wanted, &made->handle));
    scene.kept = made;
}
const mnn_onnx_result_t* resultOf(const Scene& scene) {
    return static_cast<const Result*>(scene.kept.get())->handle;
}

}  // namespace

std::vector<Function> onnxFunctions() {
    return {
        {"mnn_onnx_options_init", "", nothing,
         [](Scene&) {
             mnn_onnx_options_t made;
             return mnn_onnx_options_init(&made, sizeof made);
         }},
        {"mnn_onnx_last_error", "", nothing, [](Scene&) { return mnn_onnx_last_error() ? MNN_OK : -1; }},
        {"mnn_onnx_convert_file", "", nothing, convertFile},
        {"mnn_onnx_convert_memory", "of two operators", [](Scene& s) { file(s, "small_model"); },
         convert<MNN_ONNX_WEIGHTS_FLOAT32>},
        {"mnn_onnx_convert_memory", "of a folded convolution", [](Scene& s) { file(s, "folded_model"); },
         convert<MNN_ONNX_WEIGHTS_FLOAT16>, 3},
        {"mnn_onnx_convert_memory", "of codes", [](Scene& s) { file(s, "coded_model"); },
         convert<MNN_ONNX_WEIGHTS_INT8>, 7},
        {"mnn_onnx_convert_memory", "of no model", nothing,
         [](Scene&) {
             Result made;
             return ends(mnn_onnx_convert_memory("nothing", 7, nullptr, &made.handle), MNN_ERROR_BAD_FORMAT);
         }},
        {"mnn_onnx_result_destroy", "", [](Scene& s) { converted(s, "small_model", 0); },
         [](Scene& s) {
             auto* made = static_cast<Result*>(s.kept.get());
             return mnn_onnx_result_destroy(&made->handle);
         }},
        {"mnn_onnx_result_report", "", [](Scene& s) { converted(s, "small_model", 0); },
         [](Scene& s) {
             auto report = sized<mnn_onnx_report_t>();
             const mnn_status status = mnn_onnx_result_report(resultOf(s), &report);
             return gives(s, status, report.operators);
         }},
        {"mnn_onnx_result_problem", "", [](Scene& s) { converted(s, "lacking_model", 0); },
         [](Scene& s) {
             auto problem = sized<mnn_onnx_problem_t>();
             const mnn_status status = mnn_onnx_result_problem(resultOf(s), 0, &problem);
             return gives(s, status, problem.reason);
         }},
        {"mnn_onnx_result_note", "", [](Scene& s) { converted(s, "coded_model", 0); },
         [](Scene& s) {
             const char* note = nullptr;
             const mnn_status status = mnn_onnx_result_note(resultOf(s), 0, &note);
             return gives(s, status, note);
         }},
        {"mnn_onnx_result_data", "", [](Scene& s) { converted(s, "small_model", 0); },
         [](Scene& s) { return read(s, resultOf(s)); }},
        {"mnn_onnx_result_weights", "", [](Scene& s) { converted(s, "small_model", 1); },
         [](Scene& s) {
             const void* data = nullptr;
             size_t size = 0;
             const mnn_status status = mnn_onnx_result_weights(resultOf(s), &data, &size);
             return gives(s, status, size);
         }},
        {"mnn_onnx_result_save", "", [](Scene& s) { converted(s, "small_model", 0); },
         [](Scene& s) {
             s.file = "faults_onnx.mnn";
             return mnn_onnx_result_save(resultOf(s), s.file.c_str());
         }},
    };
}

}  // namespace faults
