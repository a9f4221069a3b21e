// Public functions whose requests for memory fail: the preparation for a call of each, and the calls.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "net.h"
#include "own.h"

namespace faults {

extern int32_t forwardType;  // of the sessions

// The objects of one call. They are prepared and destroyed while nothing fails.
struct Scene {
    mnn_interpreter_t *net = nullptr, *made = nullptr;
    mnn_session_t *session = nullptr, *other = nullptr;
    mnn_runtime_t* runtime = nullptr;
    mnn_cancel_t* cancel = nullptr;
    const mnn_node_t* node = nullptr;  // of an own operator
    Own own;
    OwnBackend backend;
    Bytes model, weights;        // files
    Bytes memory;                // of the caller: lent or filled
    Bytes result;                // the results of the call, the same each time
    std::string file;            // the file that the library writes
    std::shared_ptr<void> kept;  // an object of another library

    Scene() = default;
    Scene(const Scene&) = delete;
    Scene& operator=(const Scene&) = delete;
    ~Scene();

    mnn_tensor_t* input() const;
    mnn_tensor_t* output() const;
    // Fills the inputs and runs, after a resize where one is needed.
    void run() const;
};

struct Function {
    const char* name;  // as the list of exports has it
    const char* use;   // distinguishes several uses of it; "" where there is one
    void (*prepare)(Scene&);
    mnn_status (*call)(Scene&);  // may be called again after a failure
    long every = 1;              // a step between its points, for calls that take a second
};

// One file each; that of the plain functions is generated.
std::vector<Function> plainFunctions();
std::vector<Function> libraryFunctions();
std::vector<Function> interpreterFunctions();
std::vector<Function> creationFunctions();
std::vector<Function> sessionFunctions();
std::vector<Function> stateFunctions();
std::vector<Function> tensorFunctions();
std::vector<Function> imageFunctions();
std::vector<Function> onnxFunctions();

// ---- Preparations ---------------------------------------------------------------------------------------------------

Bytes contentOf(const std::string& file);
std::string caseModel(const char* name);  // of the conformance cases

inline void nothing(Scene&) {}
void load(Scene& scene, const std::string& model);
void digits(Scene& scene);     // only the interpreter
void open(Scene& scene);       // with a session
void ran(Scene& scene);        // that has run
void constants(Scene& scene);  // a session of a net with a constant of each type, the first one written
void halves(Scene& scene);     // a session of a net of halves, which has run

mnn_schedule_config_t scheduleConfig();
mnn_status createRecorded(Scene& scene);  // a session of the interpreter that waits for a resize, with its plan
mnn_status createPaths(Scene& scene);     // a session of the interpreter, cut in two

// ---- Results --------------------------------------------------------------------------------------------------------

// Expects the call to end with `wanted`, which counts as success.
inline mnn_status ends(mnn_status status, mnn_status wanted) {
    return status == wanted ? MNN_OK : status == MNN_OK ? MNN_ERROR_INTERNAL : status;
}

// Calls a function that fills a buffer: once for the size, once for the content. Char: the element type of the buffer.
template <typename Char, typename Fill>
mnn_status filled(Bytes& result, Fill&& fill) {
    size_t needed = 0;
    const mnn_status status = fill(static_cast<Char*>(nullptr), 0, &needed);
    if (status != MNN_OK) return status;
    result.resize(needed * sizeof(Char));
    return fill(reinterpret_cast<Char*>(result.data()), needed, &needed);
}

// Adds a text or a number that the function returned to the result.
inline mnn_status gives(Scene& scene, mnn_status status, const char* text) {
    if (status == MNN_OK) scene.result.assign(text, text + std::strlen(text));
    return status;
}
template <typename Number>
mnn_status gives(Scene& scene, mnn_status status, Number number) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&number);
    if (status == MNN_OK) scene.result.assign(bytes, bytes + sizeof number);
    return status;
}

// A struct that the function fills after its struct_size.
template <typename Struct>
Struct sized() {
    Struct made{};
    made.struct_size = sizeof made;
    return made;
}

}  // namespace faults
