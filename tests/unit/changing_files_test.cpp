// Model and weight files that are replaced, changed or removed while they are in use, through the public interface.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "mnn_c.h"
#include "model_builder.h"

namespace mnnc::testing {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

constexpr int kChannels = 96;

std::vector<float> randomFloats(size_t count, uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<float> values(count);
    for (float& value : values) value = std::uniform_real_distribution<float>(-0.1f, 0.1f)(random);
    return values;
}

// Two 3x3 convolutions of 96 channels: 332 KB of weights each, with other algorithms for other sizes.
wire::Convolution2DT convolution(uint32_t seed) {
    const size_t weights = size_t{kChannels} * kChannels * 9;
    auto conv = makeConv(kChannels, kChannels, 0);
    conv.common->kernelX = conv.common->kernelY = 3;
    conv.common->padX = conv.common->padY = 1;
    conv.weight = randomFloats(weights, seed);
    conv.bias = randomFloats(kChannels, seed + 1);
    return conv;
}

wire::NetT convNet(uint32_t seed) {
    wire::NetT net;
    net.tensorName = {"x", "middle", "y"};
    net.oplists.push_back(makeInput(0, {1, kChannels, -1, -1}));
    net.oplists.push_back(makeOp(wire::OpType::Convolution, "first", {0}, {1}, convolution(seed)));
    net.oplists.push_back(makeOp(wire::OpType::Convolution, "second", {1}, {2}, convolution(seed + 2)));
    net.outputName = {"y"};
    return net;
}

// The same with its weights in a second file.
std::pair<Bytes, Bytes> externalNet(uint32_t seed) {
    wire::NetT net = convNet(seed);
    Bytes file;
    for (size_t i = 1; i < 3; ++i) {
        auto* conv = net.oplists[i]->main.AsConvolution2D();
        conv->external = {static_cast<int64_t>(file.size()), static_cast<int64_t>(conv->weight.size() * 4),
                          static_cast<int64_t>(conv->bias.size() * 4)};
        for (std::vector<float>* values : {&conv->weight, &conv->bias}) {
            const auto* bytes = reinterpret_cast<const uint8_t*>(values->data());
            file.insert(file.end(), bytes, bytes + values->size() * 4);
            values->clear();
        }
    }
    return {pack(net), file};
}

// y = x b + b, z = x c: b is read by a product that prepares it and by an operator that reads it in runs.
wire::NetT productNet(uint32_t seed) {
    constexpr int32_t n = 80;
    wire::NetT net;
    net.tensorName = {"x", "b", "c", "xb", "y", "z"};
    net.oplists.push_back(makeInput(0, {n, n}));
    net.oplists.push_back(makeConst(1, {n, n}, randomFloats(n * n, seed)));
    net.oplists.push_back(makeConst(2, {n, n}, randomFloats(n * n, seed + 1)));
    net.oplists.push_back(makeOp(wire::OpType::MatMul, "xb", {0, 1}, {3}, wire::MatMulT()));
    net.oplists.push_back(makeOp(wire::OpType::BinaryOp, "y", {3, 1}, {4}, wire::BinaryOpT()));
    net.oplists.push_back(makeOp(wire::OpType::MatMul, "z", {0, 2}, {5}, wire::MatMulT()));
    net.outputName = {"y", "z"};
    return net;
}

void writeFile(const std::string& path, const Bytes& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// As if it had been written a while ago.
void age(const std::string& path) {
    struct timespec times[2] = {{0, UTIME_NOW}, {::time(nullptr) - 100, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

class Interpreter {
  public:
    explicit Interpreter(const std::string& path, int32_t mode = MNN_LOAD_DEFAULT) {
        mnn_interpreter_options_t options;
        mnn_interpreter_options_init(&options, sizeof options);
        options.load_mode = mode;
        status = mnn_interpreter_create_from_file(path.c_str(), &options, &handle);
    }
    Interpreter(const Interpreter&) = delete;
    Interpreter& operator=(const Interpreter&) = delete;
    ~Interpreter() { mnn_interpreter_destroy(&handle); }

    mnn_interpreter_t* handle = nullptr;
    mnn_status status = MNN_OK;
};

class Session {
  public:
    explicit Session(const Interpreter& net) { status = mnn_session_create(net.handle, nullptr, &handle); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() { mnn_session_destroy(&handle); }

    mnn_status resize(int32_t side) {
        const int32_t dims[] = {1, kChannels, side, side};
        mnn_tensor_t* input = nullptr;
        mnn_session_input(handle, nullptr, &input);
        const mnn_status asked = mnn_session_resize_input(handle, input, dims, 4);
        return asked == MNN_OK ? mnn_session_resize(handle) : asked;
    }
    // All outputs for inputs of one seed; empty when the run fails.
    std::vector<float> run(uint32_t seed = 7) {
        mnn_tensor_t* tensor = nullptr;
        mnn_session_input(handle, nullptr, &tensor);
        size_t count = 0;
        mnn_tensor_element_count(tensor, &count);
        const std::vector<float> values = randomFloats(count, seed);
        status = mnn_tensor_write(tensor, values.data(), count * 4, MNN_FORMAT_NCHW);
        if (status == MNN_OK) status = mnn_session_run(handle);
        std::vector<float> results;
        size_t outputs = 0;
        mnn_session_output_count(handle, &outputs);
        for (size_t i = 0; i < outputs && status == MNN_OK; ++i) {
            mnn_session_output_at(handle, i, &tensor);
            mnn_tensor_element_count(tensor, &count);
            const size_t before = results.size();
            results.resize(before + count);
            status = mnn_tensor_read(tensor, results.data() + before, count * 4, MNN_FORMAT_NCHW);
        }
        return status == MNN_OK ? results : std::vector<float>();
    }

    mnn_session_t* handle = nullptr;
    mnn_status status = MNN_OK;
};

#define EXPECT_STATUS(call, wanted) \
    EXPECT_EQ(static_cast<int>(call), static_cast<int>(wanted)) << mnn_last_error()
#define ASSERT_STATUS(call, wanted) \
    ASSERT_EQ(static_cast<int>(call), static_cast<int>(wanted)) << mnn_last_error()

struct Event {
    const char* name;
    void (*act)(const std::string& path, const Bytes& other);
    bool changes;
};

const Event kEvents[] = {
    {"copied_over", [](const std::string& path, const Bytes& other) { writeFile(path, other); }, true},
    {"overwritten_in_place",
     [](const std::string& path, const Bytes& other) {
         std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
         file.seekp(static_cast<std::streamoff>(other.size() / 2));
         file.write(reinterpret_cast<const char*>(other.data() + other.size() / 2), 4096);
     },
     true},
    {"truncated",
     [](const std::string& path, const Bytes& other) { fs::resize_file(path, other.size() / 2); }, true},
    {"emptied", [](const std::string& path, const Bytes&) { fs::resize_file(path, 0); }, true},
    {"appended",
     [](const std::string& path, const Bytes& other) { fs::resize_file(path, other.size() + 100); }, true},
    {"touched",
     [](const std::string& path, const Bytes&) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }, true},
    {"written_with_its_old_time",
     [](const std::string& path, const Bytes& other) {
         const auto time = fs::last_write_time(path);
         writeFile(path, other);
         fs::last_write_time(path, time);
     },
     true},
    {"renamed_over",
     [](const std::string& path, const Bytes& other) {
         writeFile(path + ".new", other);
         fs::rename(path + ".new", path);
     },
     false},
    {"removed", [](const std::string& path, const Bytes&) { fs::remove(path); }, false},
    {"linked", [](const std::string& path, const Bytes&) { fs::create_hard_link(path, path + ".link"); },
     false},
};

class ChangingFiles : public ::testing::TestWithParam<std::tuple<Event, bool>> {
  protected:
    void SetUp() override {
        char name[] = "/tmp/mnn_c_changing_XXXXXX";
        ASSERT_NE(::mkdtemp(name), nullptr);
        folder_ = name;
        model_ = folder_ + "/net.mnn";
        event_ = std::get<0>(GetParam());
        external_ = std::get<1>(GetParam());
        if (external_) {
            const auto [net, weights] = externalNet(1);
            writeFile(model_, net);
            writeFile(model_ + ".weight", weights);
            other_ = externalNet(50).second;
            age(model_ + ".weight");
        } else {
            writeFile(model_, pack(convNet(1)));
            other_ = pack(convNet(50));
        }
        age(model_);
        const Interpreter net(model_, MNN_LOAD_CHUNKED);
        Session session(net);
        for (const int32_t side : {12, 40}) {
            ASSERT_STATUS(session.resize(side), MNN_OK);
            expected_[side] = session.run();
        }
    }
    void TearDown() override { fs::remove_all(folder_); }

    void act() { event_.act(external_ ? model_ + ".weight" : model_, other_); }
    mnn_status wanted() const { return event_.changes ? MNN_ERROR_FILE_CHANGED : MNN_OK; }

    std::string folder_, model_;
    Event event_{};
    bool external_ = false;
    Bytes other_;
    std::map<int32_t, std::vector<float>> expected_;
};

TEST_P(ChangingFiles, BeforeAPlan) {
    const Interpreter net(model_);
    ASSERT_STATUS(net.status, MNN_OK);
    Session session(net);  // the input's extents are open: nothing is planned
    ASSERT_STATUS(session.status, MNN_OK);
    act();
    EXPECT_STATUS(session.resize(12), wanted());
    Session later(net);
    EXPECT_STATUS(later.status, MNN_OK);
    EXPECT_STATUS(later.resize(12), wanted());
    if (!event_.changes) {
        EXPECT_EQ(later.run(), expected_[12]);
        EXPECT_EQ(session.run(), expected_[12]);
    }
}

TEST_P(ChangingFiles, BeforeAnotherShape) {
    const Interpreter net(model_);
    Session session(net);
    ASSERT_STATUS(session.resize(12), MNN_OK);
    EXPECT_EQ(session.run(), expected_[12]);
    act();
    // What the other shape needs is read again, or was prepared for the first one.
    const mnn_status status = session.resize(40);
    EXPECT_STATUS(status, wanted());
    if (status == MNN_OK) {
        EXPECT_EQ(session.run(), expected_[40]);
    }
    ASSERT_STATUS(session.resize(12), MNN_OK);
    EXPECT_EQ(session.run(), expected_[12]);
    EXPECT_EQ(session.run(9).size(), expected_[12].size());
    EXPECT_STATUS(session.resize(40), wanted());
    ASSERT_STATUS(session.resize(12), MNN_OK);
    EXPECT_EQ(session.run(), expected_[12]);
}

TEST_P(ChangingFiles, BeforeARun) {
    const Interpreter net(model_);
    Session session(net);
    ASSERT_STATUS(session.resize(40), MNN_OK);
    act();
    EXPECT_EQ(session.run(), expected_[40]);
    EXPECT_EQ(session.run(), expected_[40]);
}

std::string nameOf(const ::testing::TestParamInfo<std::tuple<Event, bool>>& info) {
    return std::string(std::get<1>(info.param) ? "weights_" : "model_") + std::get<0>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(Events, ChangingFiles,
                         ::testing::Combine(::testing::ValuesIn(kEvents), ::testing::Bool()), nameOf);

class FilesInUse : public ::testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/mnn_c_changing_XXXXXX";
        ASSERT_NE(::mkdtemp(name), nullptr);
        folder_ = name;
        model_ = folder_ + "/net.mnn";
    }
    void TearDown() override { fs::remove_all(folder_); }
    void store(const wire::NetT& net) {
        writeFile(model_, pack(net));
        age(model_);
    }
    std::vector<float> expected() {
        const Interpreter net(model_, MNN_LOAD_CHUNKED);
        Session session(net);
        return session.run();
    }

    std::string folder_, model_;
};

// Links come and go (backups by hard links), the bytes stay.
TEST_F(FilesInUse, LinksAreNoChange) {
    store(convNet(1));
    const Interpreter net(model_);
    Session session(net);
    fs::create_hard_link(model_, folder_ + "/link");
    EXPECT_STATUS(session.resize(12), MNN_OK);
    fs::create_hard_link(model_, folder_ + "/other");
    fs::remove(model_);
    EXPECT_STATUS(session.resize(40), MNN_OK);
}

// The clock of a file system may be too coarse to show a change right after a write.
TEST_F(FilesInUse, FreshFilesAreKeptInMemory) {
    store(convNet(1));
    const Interpreter control(model_);
    Session first(control);
    ASSERT_STATUS(first.resize(12), MNN_OK);
    const std::vector<float> expected12 = first.run();
    writeFile(model_, pack(convNet(1)));  // not aged
    const Interpreter net(model_);
    ASSERT_STATUS(net.status, MNN_OK);
    writeFile(model_, pack(convNet(50)));
    fs::resize_file(model_, 10);
    Session session(net);
    ASSERT_STATUS(session.resize(12), MNN_OK);
    EXPECT_EQ(session.run(), expected12);
    EXPECT_STATUS(session.resize(40), MNN_OK);
}

TEST_F(FilesInUse, AConstantOfAProductAndOfAnotherOperator) {
    store(productNet(1));
    const std::vector<float> wanted = expected();
    ASSERT_FALSE(wanted.empty());
    const Interpreter net(model_);
    Session session(net);
    ASSERT_STATUS(session.status, MNN_OK);
    EXPECT_EQ(session.run(), wanted);
    writeFile(model_, pack(productNet(50)));
    EXPECT_EQ(session.run(), wanted);
    {
        // What the first session prepared serves the second.
        Session second(net);
        if (second.status == MNN_OK) {
            EXPECT_EQ(second.run(), wanted);
        }
    }
    mnn_session_destroy(&session.handle);
    Session third(net);
    EXPECT_STATUS(third.status, MNN_ERROR_FILE_CHANGED);
    EXPECT_EQ(third.handle, nullptr);
}

int32_t readInputs(void* seen, const mnn_session_op_info_t*, const mnn_tensor_t* const* tensors,
                   size_t count) {
    auto& [statuses, values] = *static_cast<std::pair<std::vector<mnn_status>, std::vector<float>>*>(seen);
    for (size_t i = 0; i < count; ++i) {
        size_t elements = 0;
        mnn_tensor_element_count(tensors[i], &elements);
        values.resize(elements);
        statuses.push_back(mnn_tensor_read(tensors[i], values.data(), elements * 4, MNN_FORMAT_NCHW));
    }
    return MNN_OP_RUN;
}

// A callback may look at a constant that is packed and not kept.
TEST_F(FilesInUse, CallbacksReadConstants) {
    store(productNet(1));
    const Interpreter net(model_);
    Session session(net);
    ASSERT_STATUS(session.status, MNN_OK);
    const std::vector<float> wanted = session.run();
    std::pair<std::vector<mnn_status>, std::vector<float>> seen;
    mnn_run_options_t watched;
    mnn_run_options_init(&watched, sizeof watched);
    watched.before = readInputs;
    watched.user_data = &seen;
    ASSERT_STATUS(mnn_session_run_with_options(session.handle, &watched), MNN_OK);
    ASSERT_EQ(seen.first.size(), 6u);  // the inputs of three operators
    for (const mnn_status status : seen.first) EXPECT_STATUS(status, MNN_OK);
    EXPECT_EQ(seen.second, randomFloats(80 * 80, 2));  // c, the last one read
    writeFile(model_, pack(productNet(50)));
    seen.first.clear();
    ASSERT_STATUS(mnn_session_run_with_options(session.handle, &watched), MNN_OK);
    EXPECT_EQ(std::count(seen.first.begin(), seen.first.end(), MNN_ERROR_FILE_CHANGED), 1);
    EXPECT_EQ(session.run(), wanted);
}

TEST_F(FilesInUse, SessionsAreCreatedAtOnce) {
    store(productNet(1));
    const std::vector<float> wanted = expected();
    const Interpreter net(model_);
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 10; ++i) {
                Session session(net);
                right += session.status == MNN_OK && session.run() == wanted;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 40);
}

TEST_F(FilesInUse, TheFileIsClosedAtTheEnd) {
    store(convNet(1));
    const auto descriptors = [] {
        return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
    };
    const auto before = descriptors();
    {
        const Interpreter net(model_);
        Session session(net);
        EXPECT_EQ(session.resize(12), MNN_OK);
        EXPECT_EQ(descriptors(), before + 1);
    }
    EXPECT_EQ(descriptors(), before);
}

}  // namespace
}  // namespace mnnc::testing
