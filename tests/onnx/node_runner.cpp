// Converts and runs the cases of a corpus through the public interfaces of libmnn_c_onnx and libmnn_c.
//
//     mnn_c_onnx_node_runner corpus FILE      a line for each case: "ok NAME", "refused NAME REASON", "wrong NAME WHY"
//     mnn_c_onnx_node_runner truncate FILE N  every beginning of N models is an error: "ok NAME LENGTHS", "wrong ..."
//     mnn_c_onnx_node_runner mutate FILE N    N changed models, none of which crashes it: "ok mutated REFUSED"
//
// The file is what unpack() of corpus_files.py makes: little-endian numbers of four bytes, texts and bytes with their
// length in front.
#include <mnn_c_onnx.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

class Reader {
  public:
    explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}
    bool done() const { return at_ == bytes_.size(); }
    uint32_t number() {
        uint32_t value = 0;
        std::memcpy(&value, take(4), 4);
        return value;
    }
    float real() {
        float value = 0;
        std::memcpy(&value, take(4), 4);
        return value;
    }
    std::string text() {
        const uint32_t size = number();
        return {take(size), size};
    }

  private:
    const char* take(size_t count) {
        if (count > bytes_.size() - at_) throw std::runtime_error("the corpus ends too early");
        const char* result = bytes_.data() + at_;
        at_ += count;
        return result;
    }
    std::string bytes_;
    size_t at_ = 0;
};

struct Array {
    std::string name;
    int32_t type = 0;
    std::vector<int32_t> dims;
    std::string bytes;
};

struct Case {
    std::string name, model;
    float tolerance = 0;
    std::vector<Array> inputs, outputs;
};

std::vector<Array> readArrays(Reader& in) {
    std::vector<Array> arrays(in.number());
    for (Array& array : arrays) {
        array.name = in.text();
        array.type = static_cast<int32_t>(in.number());
        array.dims.resize(in.number());
        for (int32_t& extent : array.dims) extent = static_cast<int32_t>(in.number());
        array.bytes = in.text();
    }
    return arrays;
}

Case readCase(Reader& in) {
    Case result;
    result.name = in.text();
    result.model = in.text();
    result.tolerance = in.real();
    result.inputs = readArrays(in);
    result.outputs = readArrays(in);
    return result;
}

void check(mnn_status status, const char* what) {
    if (status != MNN_OK)
        throw std::runtime_error(std::string(what) + ": " + mnn_status_name(status) + ": " + mnn_last_error());
}

// Returns why the model was refused; "", and the net, where it was not.
std::string convert(const std::string& model, std::string& net) {
    // The memory has exactly this size, so that a sanitizer detects a read behind it.
    const std::unique_ptr<char[]> exact(new char[model.size()]);
    std::memcpy(exact.get(), model.data(), model.size());
    mnn_onnx_result_t* result = nullptr;
    if (mnn_onnx_convert_memory(exact.get(), model.size(), nullptr, &result) != MNN_OK) return mnn_onnx_last_error();
    const void* data = nullptr;
    size_t size = 0;
    std::string reason;
    if (mnn_onnx_result_data(result, &data, &size) == MNN_OK)
        net.assign(static_cast<const char*>(data), size);
    else
        reason = mnn_onnx_last_error();
    mnn_onnx_result_destroy(&result);
    return reason;
}

// Returns the difference of an output; "" where there is none.
std::string compare(const Array& wanted, mnn_tensor_t* tensor, float tolerance) {
    int32_t dims[MNN_MAX_RANK] = {};
    size_t rank = 0, bytes = 0;
    mnn_tensor_properties_t info{};
    info.struct_size = sizeof info;
    check(mnn_tensor_info(tensor, &info), "type");
    const int32_t type = info.type;
    check(mnn_tensor_shape(tensor, dims, MNN_MAX_RANK, &rank), "shape");
    if (type != wanted.type) return "type " + std::to_string(type) + " for " + std::to_string(wanted.type);
    if (std::vector<int32_t>(dims, dims + rank) != wanted.dims) return "another shape";
    check(mnn_tensor_byte_size(tensor, MNN_FORMAT_NCHW, &bytes), "size");
    if (bytes != wanted.bytes.size()) return "another size";
    std::string got(bytes, '\0');
    check(mnn_tensor_read(tensor, got.data(), bytes, MNN_FORMAT_NCHW), "read");
    if (type != MNN_TYPE_FLOAT32) {
        // Codes may differ by the tolerance, where it is 1 or more.
        const bool codes = type == MNN_TYPE_UINT8 || type == MNN_TYPE_INT8;
        for (size_t i = 0; i < bytes; ++i) {
            if (got[i] == wanted.bytes[i]) continue;
            const int difference = type == MNN_TYPE_UINT8
                                       ? static_cast<uint8_t>(got[i]) - static_cast<uint8_t>(wanted.bytes[i])
                                       : static_cast<int8_t>(got[i]) - static_cast<int8_t>(wanted.bytes[i]);
            if (!codes || tolerance < 1 || std::abs(difference) > static_cast<int>(tolerance)) return "other integers";
        }
        return "";
    }
    const size_t count = bytes / 4;
    std::vector<float> a(count), b(count);
    if (count) {
        std::memcpy(a.data(), got.data(), bytes);
        std::memcpy(b.data(), wanted.bytes.data(), bytes);
    }
    float largest = 0, worst = 0;
    for (const float value : b)
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    for (size_t i = 0; i < count; ++i) {
        if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
        const float error = std::fabs(a[i] - b[i]);
        worst = std::isfinite(error) ? std::max(worst, error) : std::numeric_limits<float>::infinity();
    }
    if (largest == 0) largest = 1;
    if (worst > tolerance * largest) return "an error of " + std::to_string(worst / largest);
    return "";
}

std::string run(const Case& one, const std::string& net) {
    mnn_interpreter_t* interpreter = nullptr;
    mnn_session_t* session = nullptr;
    std::string result;
    try {
        check(mnn_interpreter_create_from_memory(net.data(), net.size(), nullptr, &interpreter), "load");
        check(mnn_session_create(interpreter, nullptr, &session), "session");
        std::vector<std::pair<mnn_tensor_t*, const Array*>> fed;
        for (const Array& array : one.inputs) {
            mnn_tensor_t* tensor = nullptr;
            check(mnn_session_input(session, array.name.c_str(), &tensor), "input");
            check(mnn_session_resize_input(session, tensor, array.dims.data(), array.dims.size()), "extents");
            fed.emplace_back(tensor, &array);
        }
        check(mnn_session_resize(session), "resize");
        for (const auto& [tensor, array] : fed)
            check(mnn_tensor_write(tensor, array->bytes.data(), array->bytes.size(), MNN_FORMAT_NCHW), "write");
        check(mnn_session_run(session), "run");
        for (const Array& array : one.outputs) {
            mnn_tensor_t* tensor = nullptr;
            check(mnn_session_output(session, array.name.c_str(), &tensor), "output");
            const std::string wrong = compare(array, tensor, one.tolerance);
            if (result.empty() && !wrong.empty()) result = array.name + ": " + wrong;
        }
    } catch (const std::exception& error) {
        result = error.what();
    }
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&interpreter);
    return result;
}

void runCorpus(Reader& in) {
    while (!in.done()) {
        const Case one = readCase(in);
        std::printf("begin %s\n", one.name.c_str());
        std::fflush(stdout);
        std::string net;
        const std::string reason = convert(one.model, net);
        if (!reason.empty()) {
            std::printf("refused %s %s\n", one.name.c_str(), reason.c_str());
            continue;
        }
        const std::string wrong = run(one, net);
        if (wrong.empty())
            std::printf("ok %s\n", one.name.c_str());
        else
            std::printf("wrong %s %s\n", one.name.c_str(), wrong.c_str());
    }
}

void runTruncated(Reader& in, long most) {
    // The models come from all parts of the corpus.
    std::vector<Case> all;
    while (!in.done()) all.push_back(readCase(in));
    const size_t step = std::max<size_t>(1, all.size() / static_cast<size_t>(most));
    for (size_t i = 0; i < all.size(); i += step) {
        const Case& one = all[i];
        if (one.model.size() > 3000) continue;
        std::printf("begin %s\n", one.name.c_str());
        std::fflush(stdout);
        size_t accepted = 0;
        for (size_t length = 0; length < one.model.size(); ++length) {
            std::string net;
            if (convert(one.model.substr(0, length), net).empty()) ++accepted;
        }
        std::printf("%s %s %zu\n", accepted ? "wrong" : "ok", one.name.c_str(), accepted ? accepted : one.model.size());
    }
}

// Bytes of models are changed, cut out, doubled and exchanged. The resulting nets are loaded, too.
void runMutated(Reader& in, long count) {
    std::vector<std::string> models;
    while (!in.done()) {
        const Case one = readCase(in);
        if (one.model.size() < 2000) models.push_back(one.model);
    }
    uint64_t state = 88172645463325252u;
    const auto random = [&](size_t below) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return static_cast<size_t>(state % below);
    };
    long refused = 0;
    for (long i = 0; i < count; ++i) {
        std::string model = models[random(models.size())];
        std::printf("begin number_%ld\n", i);
        std::fflush(stdout);
        for (size_t k = random(4) + 1; k > 0 && !model.empty(); --k) {
            const size_t at = random(model.size()), length = std::min(random(8) + 1, model.size() - at);
            switch (random(5)) {
                case 0:
                    model[at] = static_cast<char>(model[at] ^ (1 << random(8)));
                    break;
                case 1:
                    model[at] = static_cast<char>(random(256));
                    break;
                case 2:
                    model.erase(at, length);
                    break;
                case 3:
                    model.insert(at, model.substr(at, length));
                    break;
                default:
                    std::swap(model[at], model[random(model.size())]);
                    break;
            }
        }
        std::string net;
        if (!convert(model, net).empty()) {
            ++refused;
            continue;
        }
        mnn_interpreter_t* interpreter = nullptr;
        check(mnn_interpreter_create_from_memory(net.data(), net.size(), nullptr, &interpreter),
              "a net was written that does not load");
        mnn_interpreter_destroy(&interpreter);
    }
    std::printf("ok mutated %ld\n", refused);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    try {
        std::ifstream file(argv[2], std::ios::binary);
        Reader in(std::string(std::istreambuf_iterator<char>(file), {}));
        if (std::string(argv[1]) == "truncate")
            runTruncated(in, argc > 3 ? std::strtol(argv[3], nullptr, 10) : 30);
        else if (std::string(argv[1]) == "mutate")
            runMutated(in, argc > 3 ? std::strtol(argv[3], nullptr, 10) : 1000);
        else
            runCorpus(in);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
