// Models whose weights stay in the file: the parts that are fetched, and damage that is detected as in a file that is
// read completely.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>

#include "model/const_data.h"
#include "model/structure.h"
#include "model/weight_codes.h"
#include "model/weights.h"
#include "model_builder.h"

namespace mnnc::test {
namespace {

// A file that was modified some time ago.
class OldFile {
  public:
    explicit OldFile(const std::vector<uint8_t>& bytes) {
        const int file = ::mkstemp(path_);
        EXPECT_GE(file, 0);
        EXPECT_EQ(::write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        const struct timespec times[2] = {{0, UTIME_NOW}, {::time(nullptr) - 100, 0}};
        EXPECT_EQ(::futimens(file, times), 0);
        ::close(file);
    }
    ~OldFile() { ::unlink(path_); }
    OldFile(const OldFile&) = delete;
    OldFile& operator=(const OldFile&) = delete;
    const char* path() const { return path_; }

  private:
    char path_[32] = "/tmp/mnn_c_old_XXXXXX";
};

// Returns a net with every kind of array that stays in the file, each large.
wire::NetT largeNet() {
    wire::NetT net = makeReluNet();
    auto plain = makeConv(64, 128, 64 * 128);
    auto codes = makeConv(64, 256, 0);
    codes.quanParameter = std::make_unique<wire::IDSTQuanT>();
    codes.quanParameter->type = 4;
    codes.quanParameter->quantScale = 1;
    codes.quanParameter->buffer.assign(64 * 256, 3);
    codes.quanParameter->alpha.assign(256, 0.5f);
    wire::BlobT ints;
    ints.dims = {4000};
    ints.dataType = wire::DataType::DT_INT64;
    ints.int64s.assign(4000, int64_t{1} << 40);
    net.tensorName = {"t0", "t1", "t2", "t3", "t4"};
    net.oplists[1] = makeOp(wire::OpType::Convolution, "plain", {0}, {1}, std::move(plain));
    net.oplists.push_back(makeOp(wire::OpType::Convolution, "codes", {0}, {2}, std::move(codes)));
    net.oplists.push_back(makeConst(3, {100, 100}, std::vector<float>(10000, 2.5f)));
    net.oplists.push_back(makeOp(wire::OpType::Const, "ints", {}, {4}, std::move(ints)));
    return net;
}

TEST(ModelStructure, LargeArraysStayInTheFile) {
    const std::vector<uint8_t> content = pack(largeNet());
    const OldFile file(content);
    ModelBytes bytes = ModelBytes::fromFile(file.path());
    ASSERT_FALSE(bytes.inMemory(0, 1));
    ASSERT_EQ(fetchStructure(bytes), Structure::Sound);
    size_t fetched = 0;
    for (size_t at = 0; at < content.size(); ++at) fetched += bytes.inMemory(at, 1);
    EXPECT_LT(fetched, content.size() / 3);
    for (const size_t at : {size_t{0}, content.size() / 3, content.size() / 2}) {
        const HeldBytes read = bytes.view(at, 20000);
        EXPECT_TRUE(std::equal(read.bytes.begin(), read.bytes.end(), content.begin() + static_cast<ptrdiff_t>(at)));
    }

    const auto model = Model::load(std::move(bytes));
    const Graph& graph = model->mainGraph();
    const FloatView weights = decodeConvWeights(*graph.ops[1]->main_as_Convolution2D(), 64 * 128, 128,
                                                model->weightFiles(*graph.ops[1]), "plain");
    EXPECT_FALSE(weights.isBorrowed());
    EXPECT_EQ(weights.span().back(), 1.0f);
    const QuantizedWeights codes = decodeQuantizedWeights(*graph.ops[2]->main_as_Convolution2D(), 64 * 256, 256,
                                                          model->weightFiles(*graph.ops[2]), "codes");
    EXPECT_EQ(codes.q, std::vector<int8_t>(64 * 256, 3));
    const ConstData left =
        decodeBlob(*graph.ops[3]->main_as_Blob(), model->weightFiles(*graph.ops[3]), "const", Large::Leave);
    EXPECT_TRUE(left.left);
    EXPECT_TRUE(left.bytes.empty());
    EXPECT_EQ(left.count, 10000);
    const ConstData ints = decodeBlob(*graph.ops[4]->main_as_Blob(), model->weightFiles(*graph.ops[4]), "ints");
    ASSERT_EQ(ints.bytes.size(), 16000u);
    int32_t last = 0;
    std::memcpy(&last, ints.bytes.data() + 15996, sizeof last);
    EXPECT_EQ(last, INT32_MAX);
}

std::string outcome(const char* path, ModelBytes::Access access) {
    try {
        const auto model = Model::load(ModelBytes::fromFile(path, access));
        return "loaded, " + std::to_string(model->mainGraph().ops.size()) + " operators";
    } catch (const Error& error) {
        return std::to_string(static_cast<int>(error.status())) + " " + error.message();
    }
}

void expectSameOutcome(const std::vector<uint8_t>& bytes) {
    const OldFile file(bytes);
    EXPECT_EQ(outcome(file.path(), ModelBytes::Access::OnDemand), outcome(file.path(), ModelBytes::Access::Read));
}

// The FlatBuffers verifier accepts such a vector, although its elements cannot be read in place.
TEST(ModelStructure, ElementsOfEightBytesAreAligned) {
    wire::NetT net = largeNet();
    net.oplists[1]->main.AsConvolution2D()->external = {1, 2, 3};
    std::vector<uint8_t> bytes = pack(net);
    EXPECT_EQ(walkStructure(bytes.data(), bytes.size()), Structure::Sound);
    const auto* conv = flatbuffers::GetRoot<wire::Net>(bytes.data())->oplists()->Get(1)->main_as_Convolution2D();
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(conv);
    uint8_t* field = bytes.data() + (table->GetAddressOf(wire::Convolution2D::VT_EXTERNAL) - bytes.data());
    // The low half of the first element becomes the length.
    flatbuffers::WriteScalar(field, flatbuffers::ReadScalar<flatbuffers::uoffset_t>(field) + 4);
    EXPECT_EQ(conv->external()->size(), 1u);
    flatbuffers::Verifier verifier(bytes.data(), bytes.size());
    EXPECT_TRUE(verifier.VerifyBuffer<wire::Net>(nullptr));
    EXPECT_EQ(walkStructure(bytes.data(), bytes.size()), Structure::Malformed);
}

// Data beyond the end is truncated; contradictory data is malformed, also in a truncated file.
TEST(ModelStructure, CutFilesAreNotMalformed) {
    std::vector<uint8_t> bytes = pack(largeNet());
    for (const size_t size : {size_t{4}, size_t{40}, bytes.size() / 100, bytes.size() / 2, bytes.size() - 8})
        EXPECT_EQ(walkStructure(bytes.data(), size), Structure::Cut) << size;
    const auto root = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(bytes.data());
    flatbuffers::WriteScalar(bytes.data() + root, INT32_MAX);  // its vtable lies before the file
    EXPECT_EQ(walkStructure(bytes.data(), bytes.size()), Structure::Malformed);
    EXPECT_EQ(walkStructure(bytes.data(), bytes.size() / 2), Structure::Malformed);
    flatbuffers::WriteScalar(bytes.data(), root + 1);
    EXPECT_EQ(walkStructure(bytes.data(), bytes.size()), Structure::Malformed);
}

TEST(ModelStructure, DamageIsFoundAsInMemory) {
    const std::vector<uint8_t> content = pack(largeNet());
    std::mt19937 random(1);
    int loaded = 0;
    for (int i = 0; i < 1500; ++i) {
        std::vector<uint8_t> damaged = content;
        // The structure is a small part of the file: most damage must be in it.
        for (int k = 0; k < 1 + i % 3; ++k) {
            size_t at = random() % damaged.size();
            while (i % 10 != 0 && damaged[at] == damaged[(at + 64) % damaged.size()]) at = random() % damaged.size();
            damaged[at] = static_cast<uint8_t>(i % 2 ? random() : damaged[at] + (random() % 2 ? 4 : -4));
        }
        SCOPED_TRACE(i);
        expectSameOutcome(damaged);
        loaded += outcome(OldFile(damaged).path(), ModelBytes::Access::OnDemand)[0] == 'l';
    }
    EXPECT_GT(loaded, 100);
    EXPECT_LT(loaded, 1400);
}

TEST(ModelStructure, CutFilesAreFoundAsInMemory) {
    const std::vector<uint8_t> content = pack(largeNet());
    for (size_t size = 1; size < content.size(); size += 1 + size / 10)
        expectSameOutcome({content.begin(), content.begin() + static_cast<ptrdiff_t>(size)});
}

}  // namespace
}  // namespace mnnc::test
