// The results of an operator of the host that are refused: impossible shapes, and failures.
#include "own_operator.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace mnnc::test {
namespace {

struct BadShape {
    const char* name;
    std::function<void(mnn_host_tensor_t&)> answer;
    mnn_status status;
    const char* sentence;
};

TEST(OwnOperator, ShapesThatCannotBeAreRefused) {
    const auto extents = [](mnn_host_tensor_t& tensor, std::vector<int32_t> dims) {
        tensor.rank = static_cast<int32_t>(dims.size());
        std::copy(dims.begin(), dims.end(), tensor.dims);
    };
    const int32_t maxInt = std::numeric_limits<int32_t>::max();
    const std::vector<BadShape> cases = {
        {"forgotten", [](mnn_host_tensor_t&) {}, MNN_ERROR_COMPUTE_SIZE, "output 1 without a shape"},
        {"rank", [](mnn_host_tensor_t& t) { t.rank = MNN_MAX_RANK + 1; }, MNN_ERROR_BAD_RANGE, "rank 10"},
        {"largest rank", [](mnn_host_tensor_t& t) { t.rank = INT32_MAX; }, MNN_ERROR_BAD_RANGE, "rank 2147483647"},
        {"negative rank", [](mnn_host_tensor_t& t) { t.rank = -2; }, MNN_ERROR_BAD_RANGE, "rank -2"},
        {"negative",
         [&](mnn_host_tensor_t& t) {
             extents(t, {2, -1});
         },
         MNN_ERROR_BAD_RANGE, "extent -1 at axis 1"},
        {"huge",
         [&](mnn_host_tensor_t& t) {
             extents(t, {maxInt, 4});
         },
         MNN_ERROR_LIMIT_EXCEEDED, "2^31 - 1 elements"},
        {"product",
         [&](mnn_host_tensor_t& t) {
             extents(t, {maxInt, maxInt, maxInt});
         },
         MNN_ERROR_OVERFLOW, "output 1"},
        {"type",
         [&](mnn_host_tensor_t& t) {
             extents(t, {2});
             t.type = MNN_TYPE_INT64;
         },
         MNN_ERROR_BAD_TYPE, "element type 9"},
        {"no type",
         [&](mnn_host_tensor_t& t) {
             extents(t, {2});
             t.type = -5;
         },
         MNN_ERROR_BAD_TYPE, "element type -5"},
        {"format",
         [&](mnn_host_tensor_t& t) {
             extents(t, {2});
             t.format = 3;
         },
         MNN_ERROR_INVALID_VALUE, "format 3"},
    };
    for (const BadShape& bad : cases) {
        PluginNet builder;
        const Ints made = builder.several(wire::OpType::Plugin, {builder.input({2})}, 2, PluginNet::table("Own"));
        OwnOperator own("Own");
        own.compute = doubleAll;
        own.shape = [&](mnn_operator_call_t& call) {
            call.outputs[0]->rank = 0;
            bad.answer(*call.outputs[1]);
            return MNN_OK;
        };
        OwnNet net(pack(builder.finish({made[0], made[1]})), {&own});
        const PublicSession session(net.interpreter, kCpu);
        EXPECT_EQ(session.created, bad.status) << bad.name << ": " << session.error;
        EXPECT_NE(session.error.find(bad.sentence), std::string::npos) << bad.name << ": " << session.error;
        EXPECT_NE(session.error.find("several"), std::string::npos) << bad.name << ": " << session.error;
    }
}

TEST(OwnOperator, FailuresNameTheNodeAndKeepTheirStatus) {
    struct Answer {
        mnn_status given, wanted;
        const char* message;
    };
    for (const Answer& answer : {Answer{MNN_ERROR_INPUT_DATA, MNN_ERROR_INPUT_DATA, "no good"},
                                 {MNN_ERROR_CANCELLED, MNN_ERROR_CANCELLED, ""},
                                 {MNN_ERROR_DRIVER, MNN_ERROR_DRIVER, ""},
                                 {MNN_ERROR_NOT_SUPPORTED, MNN_ERROR_NOT_SUPPORTED, ""},
                                 {MNN_ERROR_BACKEND_MISSING, MNN_ERROR_BACKEND_MISSING, ""},
                                 {77, MNN_ERROR_INVALID_VALUE, "returned 77"},
                                 {-1, MNN_ERROR_INVALID_VALUE, "returned -1"},
                                 {INT32_MIN, MNN_ERROR_INVALID_VALUE, "no status"}})
        for (const char* where : {"shape", "prepare", "compute"}) {
            OwnOperator own("Own");
            bool fails = true;
            const auto callback = [&](const char* which, const OwnOperator::Callback& normal) {
                return [&fails, &answer, which, where, normal](mnn_operator_call_t& call) -> mnn_status {
                    if (!fails || std::strcmp(which, where) != 0) return normal(call);
                    std::memset(call.message, 'x', call.message_size);  // without a terminating zero
                    if (answer.message[0]) std::snprintf(call.message, call.message_size, "%s", answer.message);
                    return answer.given;
                };
            };
            own.shape = callback("shape", shapeLikeInput);
            own.prepare = callback("prepare", [](mnn_operator_call_t&) { return MNN_OK; });
            own.compute = callback("compute", doubleAll);
            OwnNet net(ownChain(), {&own});
            const bool atCreation = std::strcmp(where, "compute") != 0;
            {
                PublicSession session(net.interpreter, kCpu);
                if (!atCreation) {
                    ASSERT_EQ(session.created, MNN_OK);
                    session.write(0, Floats(6, 1));
                    EXPECT_EQ(session.run(), answer.wanted);
                } else {
                    EXPECT_EQ(session.created, answer.wanted);
                }
                for (const std::string part : {"'Own'", "'indexed'", where, answer.message})
                    EXPECT_NE(session.error.find(part), std::string::npos) << session.error;
                fails = false;
                if (!atCreation) {
                    session.write(0, Floats(6, 1));
                    ASSERT_EQ(session.run(), MNN_OK) << session.error;
                    EXPECT_EQ(session.read(), Floats(6, 2));
                }
            }
            PublicSession again(net.interpreter, kCpu);
            EXPECT_EQ(again.created, MNN_OK) << again.error;
        }
}

}  // namespace
}  // namespace mnnc::test
