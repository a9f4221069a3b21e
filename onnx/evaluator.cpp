// See evaluator.h: makes a net of one operator, loads it, and plans or runs it.
#include "evaluator.h"

#include <mnn_c.h>

#include <utility>

#include "base/error.h"

namespace mnnc::onnx {
namespace {

// Besides maxFolded bytes, an operator over constants may take this multiple of the bytes of its net, so that results
// that are too large to keep are computed, too.
constexpr uint64_t kTimes = 16;
// The results of nets of at most this many bytes are cached.
constexpr size_t kMaxCachedNet = 4096;
// The cache is emptied when it has more bytes than this: each node of a model may need another entry.
constexpr uint64_t kMaxCachedBytes = uint64_t{64} << 20;

void check(mnn_status status) {
    if (status == MNN_OK) return;
    // A tensor that is too large is an error of the node, not a limit of the conversion.
    if (status == MNN_ERROR_LIMIT_EXCEEDED) throw Error(Status::ComputeSizeError, mnn_last_error());
    throw Error(static_cast<Status>(status), mnn_last_error());
}

struct Interpreter {
    mnn_interpreter_t* handle = nullptr;
    ~Interpreter() { mnn_interpreter_destroy(&handle); }
};
struct Session {
    mnn_session_t* handle = nullptr;
    ~Session() { mnn_session_destroy(&handle); }
};

DataType typeOf(int32_t type) {
    switch (type) {
        case MNN_TYPE_INT32:
            return DataType::DT_INT32;
        case MNN_TYPE_UINT8:
            return DataType::DT_UINT8;
        case MNN_TYPE_INT8:
            return DataType::DT_INT8;
        default:
            return DataType::DT_FLOAT;
    }
}

std::string nameOf(const char* kind, size_t i) {
    return kind + std::to_string(i);
}

std::vector<uint8_t> netOf(OpType type, const wire::OpParameterUnion& parameter, const std::vector<Operand>& inputs,
                           size_t outputs) {
    wire::NetT net;
    net.sourceType = wire::NetSource::ONNX;
    auto asked = std::make_unique<wire::OpT>();
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Operand& operand = inputs[i];
        auto op = std::make_unique<wire::OpT>();
        op->defaultDimentionFormat = wire::MNN_DATA_FORMAT::NCHW;
        op->name = nameOf("in", i);
        op->outputIndexes = {static_cast<int32_t>(i)};
        net.tensorName.push_back(op->name);
        if (operand.content) {
            op->type = OpType::Const;
            op->main.Set(blobOf(*operand.content));
        } else {
            op->type = OpType::Input;
            wire::InputT input;
            for (const int64_t extent : operand.dims) input.dims.push_back(static_cast<int32_t>(extent));
            input.dtype = operand.type;
            input.dformat = wire::MNN_DATA_FORMAT::NCHW;
            op->main.Set(std::move(input));
        }
        asked->inputIndexes.push_back(static_cast<int32_t>(i));
        net.oplists.push_back(std::move(op));
    }
    for (size_t i = 0; i < outputs; ++i) {
        net.tensorName.push_back(nameOf("out", i));
        net.outputName.push_back(net.tensorName.back());
        asked->outputIndexes.push_back(static_cast<int32_t>(inputs.size() + i));
    }
    asked->name = wire::EnumNameOpType(type);  // messages about the operator begin with it
    asked->type = type;
    asked->main = parameter;
    asked->defaultDimentionFormat = wire::MNN_DATA_FORMAT::NCHW;
    net.oplists.push_back(std::move(asked));
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::Net::Pack(builder, &net));
    return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

// Resizes inputs without elements, because a file cannot express their extents.
void resizeEmptyInputs(mnn_session_t* session, const std::vector<Operand>& inputs) {
    bool any = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].content) continue;
        bool empty = false;
        std::vector<int32_t> dims;
        for (const int64_t extent : inputs[i].dims) {
            empty = empty || extent == 0;
            dims.push_back(static_cast<int32_t>(extent));
        }
        if (!empty) continue;
        mnn_tensor_t* tensor = nullptr;
        check(mnn_session_input(session, nameOf("in", i).c_str(), &tensor));
        check(mnn_session_resize_input(session, tensor, dims.data(), dims.size()));
        any = true;
    }
    if (any) check(mnn_session_resize(session));
}

ArrayPtr read(mnn_tensor_t* tensor, DataType type, const Dims& dims, int64_t count) {
    auto array = std::make_shared<Array>();
    array->type = type;
    array->dims = dims;
    const auto n = static_cast<size_t>(count);
    void* to = nullptr;
    size_t bytes = n;
    if (type == DataType::DT_FLOAT) {
        array->floats.resize(n);
        to = array->floats.data();
        bytes = n * 4;
    } else if (type == DataType::DT_INT32) {
        array->ints.resize(n);
        to = array->ints.data();
        bytes = n * 4;
    } else {
        array->bytes.resize(n);
        to = array->bytes.data();
    }
    mnn_tensor_properties_t info{};
    info.struct_size = sizeof info;
    check(mnn_tensor_info(tensor, &info));
    check(mnn_tensor_read(tensor, to, bytes, info.format == MNN_FORMAT_NHWC ? MNN_FORMAT_NHWC : MNN_FORMAT_NCHW));
    return array;
}

std::vector<Result> ask(const std::vector<uint8_t>& net, const std::vector<Operand>& inputs, size_t outputs,
                        int64_t maxElements, uint64_t maxGuessed, uint64_t maxFolded, mnn_cancel_t* cancel) {
    std::vector<Result> results(outputs);
    mnn_interpreter_options_t options;
    check(mnn_interpreter_options_init(&options, sizeof options));
    options.load_mode = MNN_LOAD_BORROW;
    options.log_level = MNN_LOG_ERROR;
    options.cancel = cancel;
    Interpreter interpreter;
    check(mnn_interpreter_create_from_memory(net.data(), net.size(), &options, &interpreter.handle));
    mnn_schedule_config_t config;
    check(mnn_schedule_config_init(&config, sizeof config));
    config.threads = 1;
    config.cancel = cancel;
    if (maxElements >= 0)
        config.max_memory_bytes = maxFolded + kTimes * net.size();
    else if (maxGuessed > 0)
        config.max_memory_bytes = maxGuessed;
    Session session;
    check(mnn_session_create(interpreter.handle, &config, &session.handle));
    resizeEmptyInputs(session.handle, inputs);
    const auto shapes = [&] {
        bool all = true;
        for (size_t i = 0; i < outputs; ++i) {
            Result& result = results[i];
            mnn_tensor_t* tensor = nullptr;
            check(mnn_session_output(session.handle, nameOf("out", i).c_str(), &tensor));
            size_t rank = 0;
            const mnn_status status = mnn_tensor_shape(tensor, nullptr, 0, &rank);
            result.known = status == MNN_OK;
            all = all && result.known;
            mnn_tensor_properties_t info{};
            info.struct_size = sizeof info;
            if (mnn_tensor_info(tensor, &info) == MNN_OK) result.type = typeOf(info.type);
            if (!result.known) continue;
            std::vector<int32_t> dims(rank);
            check(mnn_tensor_shape(tensor, dims.data(), rank, &rank));
            result.dims.assign(dims.begin(), dims.end());
        }
        return all;
    };
    bool all = shapes();
    if (maxElements < 0) return results;
    int64_t count = 0;
    for (const Result& result : results)
        if (result.known) count += elementCount(result.dims, "a result");
    if (count > maxElements) return results;
    check(mnn_session_run(session.handle));
    if (!all) shapes();
    for (size_t i = 0; i < outputs; ++i) {
        mnn_tensor_t* tensor = nullptr;
        check(mnn_session_output(session.handle, nameOf("out", i).c_str(), &tensor));
        const int64_t elements = elementCount(results[i].dims, "a result");
        if (elements <= maxElements) results[i].content = read(tensor, results[i].type, results[i].dims, elements);
    }
    return results;
}

}  // namespace

void requireLoads(Bytes net, Bytes weights, mnn_cancel_t* cancel) {
    mnn_interpreter_options_t options;
    check(mnn_interpreter_options_init(&options, sizeof options));
    options.load_mode = MNN_LOAD_BORROW;
    options.log_level = MNN_LOG_ERROR;
    options.cancel = cancel;
    if (!weights.empty()) {
        options.external_weight_data = weights.data();
        options.external_weight_size = weights.size();
        options.external_weight_mode = MNN_LOAD_BORROW;
    }
    Interpreter interpreter;
    check(mnn_interpreter_create_from_memory(net.data(), net.size(), &options, &interpreter.handle));
}

wire::BlobT blobOf(const Array& array) {
    wire::BlobT blob;
    for (const int64_t extent : array.dims) blob.dims.push_back(static_cast<int32_t>(extent));
    blob.dataFormat = wire::MNN_DATA_FORMAT::NCHW;
    blob.dataType = array.type;
    if (array.type == DataType::DT_FLOAT)
        blob.float32s = array.allFloats();
    else if (array.type == DataType::DT_INT32)
        blob.int32s = array.ints;
    else if (array.type == DataType::DT_UINT8)
        blob.uint8s = array.bytes;
    else
        blob.int8s.assign(array.bytes.begin(), array.bytes.end());
    return blob;
}

std::vector<Result> Evaluator::operator()(OpType type, const wire::OpParameterUnion& parameter,
                                          const std::vector<Operand>& inputs, size_t outputs, int64_t maxElements) {
    const std::vector<uint8_t> net = netOf(type, parameter, inputs, outputs);
    std::string key;
    if (net.size() <= kMaxCachedNet) {
        key.assign(net.begin(), net.end());
        key += std::to_string(maxElements);
        if (const auto found = answers_.find(key); found != answers_.end()) return found->second;
    }
    std::vector<Result> results = ask(net, inputs, outputs, maxElements, maxGuessed, maxFolded, cancel_);
    if (key.empty()) return results;
    uint64_t bytes = key.size() + sizeof(Result) * results.size();
    for (const Result& result : results) bytes += result.content ? result.content->byteSize() : 0;
    if (answersBytes_ + bytes > kMaxCachedBytes) {
        answers_.clear();
        answersBytes_ = 0;
    }
    answersBytes_ += bytes;
    answers_.emplace(std::move(key), results);
    return results;
}

}  // namespace mnnc::onnx
