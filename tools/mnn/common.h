// What every command of the tool shares: errors, common flags, handles that destroy themselves, tensors as
// arrays.
#pragma once
#include <fmt/format.h>
#include <mnn_c.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "npy.h"

namespace tool {

// Something went wrong: exit code 1.
class ToolError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The wanted backend is not there; nothing takes its place.
class MissingBackend : public ToolError {
    using ToolError::ToolError;
};

// The command line asks for something that makes no sense: exit code 2.
class UsageError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct CommonFlags {
    int threads = 1;
    std::string backend = "cpu";
    std::string device, gpuMode;  // of a GPU; "" = the library's choice
    std::string precision = "normal";
    std::string memory = "normal";
    std::string isa;
    std::vector<std::string> shapes;  // name=1x3x224x224
    bool validate = false;            // the validation layer watches this process
    bool recordPlan = false;          // for mnn_session_report()

    void addTo(CLI::App& command);  // all of these
    void addBackendTo(CLI::App& command);
    void addRestTo(CLI::App& command);  // all but backend and shapes
    void addShapesTo(CLI::App& command);
    // Throws UsageError for flags that do not go together.
    void checkTogether() const;
    mnn_schedule_config_t config() const;  // points into this object
    std::map<std::string, std::vector<int64_t>> parsedShapes() const;
};

struct DestroyInterpreter {
    void operator()(mnn_interpreter_t* handle) const { mnn_interpreter_destroy(&handle); }
};
struct DestroySession {
    void operator()(mnn_session_t* handle) const { mnn_session_destroy(&handle); }
};
using Interpreter = std::unique_ptr<mnn_interpreter_t, DestroyInterpreter>;
using Session = std::unique_ptr<mnn_session_t, DestroySession>;

// Throws ToolError with the library's sentence unless the status is MNN_OK.
void check(mnn_status status);

Interpreter openModel(const std::string& path);
// `saved`: names of tensors to offer as outputs beside the model's.
Session createSession(const Interpreter& interpreter, const CommonFlags& flags,
                      const std::vector<std::string>& saved = {});
// Applies --shape; throws UsageError for a name that is no input. Resizes when every input has a shape then.
void applyShapes(const Session& session, const CommonFlags& flags);
// Says which inputs still need --shape; throws UsageError when one does.
void requireShapes(const Session& session);

std::vector<mnn_tensor_t*> inputsOf(const Session& session);
std::vector<mnn_tensor_t*> outputsOf(const Session& session);

std::string nameOf(const mnn_tensor_t* tensor);
std::vector<int64_t> shapeOf(const mnn_tensor_t* tensor);
Element elementOf(const mnn_tensor_t* tensor);
const char* typeName(int32_t type);
const char* formatName(int32_t format);

void resizeInput(const Session& session, mnn_tensor_t* input, const std::vector<int64_t>& shape);
// Data in the order of the tensor's own shape.
void writeTensor(mnn_tensor_t* tensor, const Array& array);
Array readTensor(const mnn_tensor_t* tensor);

// Seeded values for every input: floats in [low, 1), integers 0 or 1 (which no embedding refuses).
std::vector<Array> randomInputs(const Session& session, uint64_t seed, float low = -1);
void writeInputs(const Session& session, const std::vector<Array>& arrays);

std::string countText(double number);   // 1.24 M
std::string bytesText(uint64_t bytes);  // 4.7 MiB

// One per command: describes itself to the parser, and runs when its name was given.
void addInfo(CLI::App& app);
void addRun(CLI::App& app);
void addVerify(CLI::App& app, int& exitCode);
void addBench(CLI::App& app, uint64_t residentAtStart);
void addCompare(CLI::App& app, int& exitCode);
void addDevices(CLI::App& app);
void addProfile(CLI::App& app);

}  // namespace tool
