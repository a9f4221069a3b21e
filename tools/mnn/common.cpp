#include "common.h"

#include <array>
#include <random>

#include "validated.h"

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

int32_t ownFormat(const mnn_tensor_t* tensor) {
    int32_t format = MNN_FORMAT_NCHW;
    check(mnn_tensor_format(tensor, &format));
    return format == MNN_FORMAT_NHWC ? MNN_FORMAT_NHWC : MNN_FORMAT_NCHW;
}

std::vector<int64_t> parseShape(const std::string& text) {
    std::vector<int64_t> dims;
    for (const std::string& part : CLI::detail::split(text, 'x')) {
        if (part.empty() || part.size() > 9 || part.find_first_not_of("0123456789") != std::string::npos)
            throw UsageError(fmt::format("'{}' is no shape; write 1x3x224x224", text));
        dims.push_back(std::stol(part));
    }
    return dims;
}

}  // namespace

void CommonFlags::addTo(CLI::App& command) {
    addBackendTo(command);
    addRestTo(command);
    addShapesTo(command);
}

void CommonFlags::addBackendTo(CLI::App& command) {
    command
        .add_option(
            "--backend", backend,
            "Where to run: cpu, vulkan (an error where there is no device) or auto (a GPU, else the CPU)")
        ->check(CLI::IsMember({"cpu", "vulkan", "auto"}))
        ->capture_default_str();
}

void CommonFlags::addRestTo(CLI::App& command) {
    command.add_option("--threads", threads, "CPU threads of the session")
        ->check(CLI::Range(1, static_cast<int>(MNN_MAX_THREADS)))
        ->capture_default_str();
    command
        .add_option("--device", device,
                    "Which GPU: its number, UUID or a part of its name in 'mnn devices' (default: the best)")
        ->type_name("INDEX|UUID|NAME");
    command
        .add_option(
            "--gpu-mode", gpuMode,
            "How a GPU gets its work: direct, a recording per operator, or indirect, many operators in "
            "one (default: indirect)")
        ->check(CLI::IsMember({"direct", "indirect"}));
    command
        .add_option(
            "--precision", precision,
            "low rounds for speed: a GPU stores tensors as fp16, a CPU with AVX512-BF16 multiplies in "
            "bf16 (other CPUs: as normal)")
        ->check(CLI::IsMember({"low", "normal", "high"}))
        ->capture_default_str();
    command
        .add_option("--memory", memory,
                    "low keeps the CPU's weights quantised where the model stores them so")
        ->check(CLI::IsMember({"low", "normal", "high"}))
        ->capture_default_str();
    command.add_flag_callback(
        "--validate",
        [this] {
            validate = true;
            runValidated();
        },
        "Check every Vulkan call with the validation layer; any message makes the exit code 1");
    command.add_option("--isa", isa,
                       "Force a CPU instruction set: portable; sse4, avx2, avx512 of x86; neon of Arm "
                       "(default: the best)");
}

void CommonFlags::addShapesTo(CLI::App& command) {
    command.add_option("--shape", shapes, "Shape of an input the model leaves open: name=1x3x224x224")
        ->type_name("NAME=DIMS");
}

void CommonFlags::checkTogether() const {
    if (validate && backend != "vulkan")
        throw UsageError("--validate checks Vulkan calls: give --backend vulkan");
    if (backend == "cpu" && !device.empty())
        throw UsageError("--device chooses a GPU: give --backend vulkan");
    if (backend == "cpu" && !gpuMode.empty())
        throw UsageError("--gpu-mode is about a GPU: give --backend vulkan");
}

mnn_schedule_config_t CommonFlags::config() const {
    mnn_schedule_config_t config;
    check(mnn_schedule_config_init(&config, sizeof config));
    config.record_plan = recordPlan ? 1 : 0;
    config.threads = threads;
    config.cpu_isa = isa.empty() ? nullptr : isa.c_str();
    if (backend == "vulkan") config.forward_type = MNN_FORWARD_VULKAN;
    if (backend == "auto") config.forward_type = MNN_FORWARD_AUTO;
    if (precision == "low") config.precision = MNN_PRECISION_LOW;
    if (precision == "high") config.precision = MNN_PRECISION_HIGH;
    if (memory == "low") config.memory = MNN_MEMORY_LOW;
    if (memory == "high") config.memory = MNN_MEMORY_HIGH;
    if (!device.empty()) config.device = device.c_str();
    if (gpuMode == "direct") config.gpu_mode = MNN_GPU_RECORD_OP;
    if (gpuMode == "indirect") config.gpu_mode = MNN_GPU_RECORD_BATCH;
    return config;
}

std::map<std::string, std::vector<int64_t>> CommonFlags::parsedShapes() const {
    std::map<std::string, std::vector<int64_t>> parsed;
    for (const std::string& shape : shapes) {
        const size_t equals = shape.rfind('=');
        if (equals == std::string::npos)
            throw UsageError(fmt::format("--shape '{}' has no name; write name=1x3x224x224", shape));
        parsed[shape.substr(0, equals)] = parseShape(shape.substr(equals + 1));
    }
    return parsed;
}

void check(mnn_status status) {
    if (status == MNN_OK) return;
    const std::string sentence = mnn_last_error();
    const std::string text =
        fmt::format("{} ({})", sentence.empty() ? "no reason given" : sentence, mnn_status_name(status));
    if (status == MNN_ERROR_BACKEND_MISSING) throw MissingBackend(text);
    throw ToolError(text);
}

Interpreter openModel(const std::string& path) {
    mnn_interpreter_t* handle = nullptr;
    check(mnn_interpreter_create_from_file(path.c_str(), nullptr, &handle));
    return Interpreter(handle);
}

Session createSession(const Interpreter& interpreter, const CommonFlags& flags,
                      const std::vector<std::string>& saved) {
    mnn_schedule_config_t config = flags.config();
    std::vector<const char*> names;
    for (const std::string& name : saved) names.push_back(name.c_str());
    config.save_tensors = names.data();
    config.save_tensor_count = names.size();
    mnn_session_t* handle = nullptr;
    check(mnn_session_create(interpreter.get(), &config, &handle));
    return Session(handle);
}

void applyShapes(const Session& session, const CommonFlags& flags) {
    for (const auto& [name, shape] : flags.parsedShapes()) {
        mnn_tensor_t* input = nullptr;
        if (mnn_session_input(session.get(), name.c_str(), &input) != MNN_OK)
            throw UsageError(fmt::format("--shape: {}", mnn_last_error()));
        resizeInput(session, input, shape);
    }
    for (const mnn_tensor_t* input : inputsOf(session))
        for (const int64_t dim : shapeOf(input))
            if (dim < 0) return;
    check(mnn_session_resize(session.get()));
}

void requireShapes(const Session& session) {
    std::string open;
    for (const mnn_tensor_t* input : inputsOf(session)) {
        const std::vector<int64_t> shape = shapeOf(input);
        bool isOpen = false;
        for (const int64_t dim : shape) isOpen = isOpen || dim < 0;
        if (isOpen)
            open += fmt::format("{}'{}' ({})", open.empty() ? "" : ", ", nameOf(input), shapeText(shape));
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

Element elementOf(const mnn_tensor_t* tensor) {
    int32_t type = 0;
    check(mnn_tensor_type(tensor, &type));
    for (const TypeRow& row : kTypes)
        if (row.type == type) return row.element;
    throw ToolError(fmt::format("tensor '{}' has elements of type {}, which no .npy file holds",
                                nameOf(tensor), typeName(type)));
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
        if (dim > INT32_MAX)
            throw ToolError(fmt::format("extent {} of '{}' is too large", dim, nameOf(input)));
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
    check(mnn_tensor_write(tensor, typed.bytes.data(), typed.bytes.size(), ownFormat(tensor)));
}

Array readTensor(const mnn_tensor_t* tensor) {
    const int32_t format = ownFormat(tensor);
    size_t bytes = 0;
    check(mnn_tensor_byte_size(tensor, format, &bytes));
    Array array{elementOf(tensor), shapeOf(tensor), std::vector<unsigned char>(bytes)};
    check(mnn_tensor_read(tensor, array.bytes.data(), bytes, format));
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
    const std::vector<mnn_tensor_t*> inputs = inputsOf(session);
    for (size_t i = 0; i < inputs.size(); i++) writeTensor(inputs[i], arrays[i]);
}

std::string countText(double number) {
    const char* units[] = {"", " k", " M", " G", " T"};
    size_t unit = 0;
    for (; number >= 1000 && unit < 4; unit++) number /= 1000;
    return fmt::format("{:.{}f}{}", number, unit == 0 ? 0 : 2, units[unit]);
}

std::string bytesText(uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

}  // namespace tool
