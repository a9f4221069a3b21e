// The parts that commands share: handles that destroy themselves, and tensors as arrays.
#pragma once
#include <mnn_c.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "errors.h"
#include "flags.h"
#include "npy.h"
#include "text.h"

namespace tool {

struct DestroyInterpreter {
    void operator()(mnn_interpreter_t* handle) const { mnn_interpreter_destroy(&handle); }
};
struct DestroyRuntime {
    void operator()(mnn_runtime_t* handle) const { mnn_runtime_destroy(&handle); }
};
struct DestroySession {
    void operator()(mnn_session_t* handle) const { mnn_session_destroy(&handle); }
};
using Interpreter = std::unique_ptr<mnn_interpreter_t, DestroyInterpreter>;
using Runtime = std::unique_ptr<mnn_runtime_t, DestroyRuntime>;
using Session = std::unique_ptr<mnn_session_t, DestroySession>;

// Throws ToolError with the library's sentence unless the status is MNN_OK.
void check(mnn_status status);

// `saved` are names of tensors to offer as outputs beside the model's. `othersGiveShapes`: files give shapes before the
// session is resized, as --shape does.
Session createSession(const Interpreter& interpreter, const CommonFlags& flags,
                      const std::vector<std::string>& saved = {}, bool othersGiveShapes = false);
// Sets the shapes of --shape; throws UsageError for a name that is no input.
void setShapes(const Session& session, const CommonFlags& flags);
// Sets them, and then resizes the session if every input has a shape.
void applyShapes(const Session& session, const CommonFlags& flags);
// Throws UsageError that names the inputs that still need --shape, if there are any.
void requireShapes(const Session& session);
// Return the texts of mnn_session_report() and mnn_interpreter_report().
std::string reportOf(const Session& session, const std::string& what);
std::string reportOf(const Interpreter& model, const std::string& what);

std::vector<mnn_tensor_t*> inputsOf(const Session& session);
std::vector<mnn_tensor_t*> outputsOf(const Session& session);

std::string nameOf(const mnn_tensor_t* tensor);
std::vector<int64_t> shapeOf(const mnn_tensor_t* tensor);
mnn_tensor_properties_t propertiesOf(const mnn_tensor_t* tensor);
mnn_statistics_t statisticsOf(const Session& session);
Element elementOf(const mnn_tensor_t* tensor);
const char* typeName(int32_t type);
const char* formatName(int32_t format);

void resizeInput(const Session& session, mnn_tensor_t* input, const std::vector<int64_t>& shape);
// Writes data that is in the order of the tensor's own shape.
void writeTensor(mnn_tensor_t* tensor, const Array& array);
Array readTensor(const mnn_tensor_t* tensor);

// Returns seeded values for every input: floats in [low, 1), integers 0 or 1 (which every embedding accepts).
std::vector<Array> randomInputs(const Session& session, uint64_t seed, float low = -1);
// Writes all inputs of a run that begins anew: it finds nothing that the session has kept from earlier runs.
void writeInputs(const Session& session, const std::vector<Array>& arrays);

}  // namespace tool
