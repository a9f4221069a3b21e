// Calls the library with exceptions for statuses, and copies tensors to arrays.
#include "common.h"

#include <array>
#include <random>

#include "input_file.h"
#include "text.h"

namespace tool {
namespace {

struct TypeRow {
    int32_t type;
    Element element;
    const char* name;
};

constexpr std::array<TypeRow, 6> kTypes = {{{MNN_TYPE_FLOAT32, Element::Float32, "float32"},
                                            {MNN_TYPE_INT32, Element::Int32, "int32"},
                                            {MNN_TYPE_UINT8, Element::UInt8, "uint8"},
                                            {MNN_TYPE_INT8, Element::Int8, "int8"},
                                            {MNN_TYPE_INT16, Element::Int16, "int16"},
                                            {MNN_TYPE_UINT16, Element::UInt16, "uint16"}}};

bool isHalf(const mnn_tensor_t* tensor) {
    return propertiesOf(tensor).type == MNN_TYPE_FLOAT16;
}

// Returns the library's type for an element of elementOf().
int32_t typeOf(Element element) {
    for (const TypeRow& row : kTypes)
        if (row.element == element) return row.type;
    return 0;
}

int32_t ownFormat(const mnn_tensor_t* tensor) {
    return propertiesOf(tensor).format == MNN_FORMAT_NHWC ? MNN_FORMAT_NHWC : MNN_FORMAT_NCHW;
}

// Returns the text of the report that `write` fills in.
template <typename Handle>
std::string filledText(mnn_status (*write)(const Handle*, const char*, char*, size_t, size_t*), const Handle* handle,
                       const std::string& what) {
    size_t size = 0;
    check(write(handle, what.c_str(), nullptr, 0, &size));
    std::string text(size, '\0');
    check(write(handle, what.c_str(), text.data(), text.size(), &size));
    text.pop_back();  // the terminating zero
    return text;
}

}  // namespace

void check(mnn_status status) {
    if (status == MNN_OK) return;
    const std::string sentence = mnn_last_error();
    const std::string text =
        fmt::format("{} ({})", sentence.empty() ? "no reason given" : sentence, mnn_status_name(status));
    if (status == MNN_ERROR_BACKEND_MISSING) throw MissingBackend(text);
    throw ToolError(text);
}

namespace {

// Returns a runtime with the costs of a file, or an empty handle without such a file. The runtime may be destroyed
// after the session is created.
Runtime runtimeOf(const CommonFlags& flags) {
    if (flags.cpuCosts.empty()) return {};
    const std::string costs = readInput(flags.cpuCosts);
    mnn_runtime_config_t config;
    check(mnn_runtime_config_init(&config, sizeof config));
    config.threads = flags.threads;
    config.cpu_costs = costs.c_str();
    mnn_runtime_t* handle = nullptr;
    check(mnn_runtime_create(&config, &handle));
    return Runtime(handle);
}

}  // namespace

Session createSession(const Interpreter& interpreter, const CommonFlags& flags, const std::vector<std::string>& saved,
                      bool othersGiveShapes) {
    const Runtime runtime = runtimeOf(flags);
    mnn_schedule_config_t config = flags.config();
    config.runtime = runtime.get();
    std::vector<const char*> names;
    names.reserve(saved.size());
    for (const std::string& name : saved) names.push_back(name.c_str());
    config.save_tensors = names.data();
    config.save_tensor_count = names.size();
    // Declared shapes may be unusable where others are given.
    config.defer_planning = othersGiveShapes || !flags.shapes.empty() ? 1 : 0;
    mnn_session_t* handle = nullptr;
    check(mnn_session_create(interpreter.get(), &config, &handle));
    return Session(handle);
}

void setShapes(const Session& session, const CommonFlags& flags) {
    for (const auto& [name, shape] : flags.parsedShapes()) {
        mnn_tensor_t* input = nullptr;
        if (mnn_session_input(session.get(), name.c_str(), &input) != MNN_OK)
            throw UsageError(fmt::format("--shape: {}", mnn_last_error()));
        resizeInput(session, input, shape);
    }
}

void applyShapes(const Session& session, const CommonFlags& flags) {
    setShapes(session, flags);
    for (const mnn_tensor_t* input : inputsOf(session))
        for (const int64_t dim : shapeOf(input))
            if (dim < 0) return;
    check(mnn_session_resize(session.get()));
}

std::string reportOf(const Session& session, const std::string& what) {
    return filledText(mnn_session_report, session.get(), what);
}

std::string reportOf(const Interpreter& model, const std::string& what) {
    return filledText(mnn_interpreter_report, model.get(), what);
}

void requireShapes(const Session& session) {
    std::string open;
    for (const mnn_tensor_t* input : inputsOf(session)) {
        const std::vector<int64_t> shape = shapeOf(input);
        bool isOpen = false;
        for (const int64_t dim : shape) isOpen = isOpen || dim < 0;
        if (isOpen) open += fmt::format("{}'{}' ({})", open.empty() ? "" : ", ", nameOf(input), shapeText(shape));
    }
    if (!open.empty()) throw UsageError(fmt::format("the model leaves dims open: give --shape for {}", open));
}

std::vector<mnn_tensor_t*> inputsOf(const Session& session) {
    size_t count = 0;
    check(mnn_session_input_count(session.get(), &count));
    std::vector<mnn_tensor_t*> tensors(count);
    for (size_t i = 0; i < count; i++) check(mnn_session_input_at(session.get(), i, &tensors[i]));
    return tensors;
}

std::vector<mnn_tensor_t*> outputsOf(const Session& session) {
    size_t count = 0;
    check(mnn_session_output_count(session.get(), &count));
    std::vector<mnn_tensor_t*> tensors(count);
    for (size_t i = 0; i < count; i++) check(mnn_session_output_at(session.get(), i, &tensors[i]));
    return tensors;
}

std::string nameOf(const mnn_tensor_t* tensor) {
    const char* name = nullptr;
    check(mnn_tensor_name(tensor, &name));
    return name;
}

std::vector<int64_t> shapeOf(const mnn_tensor_t* tensor) {
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    check(mnn_tensor_shape(tensor, dims, MNN_MAX_RANK, &rank));
    return {dims, dims + rank};
}

mnn_tensor_properties_t propertiesOf(const mnn_tensor_t* tensor) {
    mnn_tensor_properties_t info{};
    info.struct_size = sizeof info;
    check(mnn_tensor_info(tensor, &info));
    return info;
}

mnn_statistics_t statisticsOf(const Session& session) {
    mnn_statistics_t statistics{};
    statistics.struct_size = sizeof statistics;
    check(mnn_session_statistics(session.get(), &statistics));
    return statistics;
}

// Files store halves as floats.
Element elementOf(const mnn_tensor_t* tensor) {
    const int32_t type = propertiesOf(tensor).type;
    if (type == MNN_TYPE_FLOAT16) return Element::Float32;
    for (const TypeRow& row : kTypes)
        if (row.type == type) return row.element;
    throw ToolError(
        fmt::format("tensor '{}' has elements of type {}, which no .npy file holds", nameOf(tensor), typeName(type)));
}

const char* typeName(int32_t type) {
    for (const TypeRow& row : kTypes)
        if (row.type == type) return row.name;
    if (type == MNN_TYPE_FLOAT16) return "float16";
    if (type == MNN_TYPE_BFLOAT16) return "bfloat16";
    return "unknown";
}

const char* formatName(int32_t format) {
    switch (format) {
        case MNN_FORMAT_NCHW:
            return "NCHW";
        case MNN_FORMAT_NHWC:
            return "NHWC";
        case MNN_FORMAT_NC4HW4:
            return "NC4HW4";
        default:
            return "unknown";
    }
}

void resizeInput(const Session& session, mnn_tensor_t* input, const std::vector<int64_t>& shape) {
    std::vector<int32_t> dims;
    for (const int64_t dim : shape) {
        if (dim > INT32_MAX) throw ToolError(fmt::format("extent {} of '{}' is too large", dim, nameOf(input)));
        dims.push_back(static_cast<int32_t>(dim));
    }
    check(mnn_session_resize_input(session.get(), input, dims.data(), dims.size()));
}

void writeTensor(mnn_tensor_t* tensor, const Array& array) {
    Array typed;
    try {
        typed = convert(array, elementOf(tensor));
    } catch (const ToolError& error) {
        throw ToolError(fmt::format("input '{}': {}", nameOf(tensor), error.what()));
    }
    check(
        mnn_tensor_write_as(tensor, typed.bytes.data(), typed.bytes.size(), typeOf(typed.element), ownFormat(tensor)));
}

Array readTensor(const mnn_tensor_t* tensor) {
    const int32_t format = ownFormat(tensor);
    size_t bytes = 0;
    check(mnn_tensor_byte_size(tensor, format, &bytes));
    const Element element = elementOf(tensor);
    if (isHalf(tensor)) bytes *= 2;
    Array array{element, shapeOf(tensor), std::vector<unsigned char>(bytes)};
    check(mnn_tensor_read_as(tensor, array.bytes.data(), bytes, typeOf(element), format));
    return array;
}

std::vector<Array> randomInputs(const Session& session, uint64_t seed, float low) {
    std::mt19937_64 random(seed);
    std::vector<Array> arrays;
    for (const mnn_tensor_t* input : inputsOf(session)) {
        Array values{Element::Float32, shapeOf(input), {}};
        size_t count = 0;
        check(mnn_tensor_element_count(input, &count));
        values.bytes.resize(count * sizeof(float));
        const bool real = elementOf(input) == Element::Float32;
        float* data = reinterpret_cast<float*>(values.bytes.data());
        for (size_t i = 0; i < count; i++)
            data[i] = real ? static_cast<float>(random() >> 40) / 16777216.0F * (1 - low) + low
                           : static_cast<float>(random() >> 63);
        arrays.push_back(convert(values, elementOf(input)));
    }
    return arrays;
}

void writeInputs(const Session& session, const std::vector<Array>& arrays) {
    check(mnn_session_state_reset(session.get()));
    const std::vector<mnn_tensor_t*> inputs = inputsOf(session);
    for (size_t i = 0; i < inputs.size(); i++) writeTensor(inputs[i], arrays[i]);
}

}  // namespace tool
