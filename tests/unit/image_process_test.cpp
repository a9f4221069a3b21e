// ImageProcess: refused parameters.
#include "op_harness.h"

namespace mnnc::test {
namespace {

constexpr OpType kType = OpType::ImageProcess;

Table process(const std::function<void(wire::ImageProcessParamT&)>& change) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        wire::ImageProcessParamT table;
        table.shape = {1, 4, 2, 2};
        change(table);
        return asParameter(wire::CreateImageProcessParam(b, &table));
    };
}

TEST(ImageProcess, Refuses) {
    using T = wire::ImageProcessParamT;
    const std::vector<Value> x = {iota({1, 4, 2, 2})};
    expectRefused(kType, process([](T&) {}), x, Status::NotSupported, "pictures of float32 are not implemented");
    expectRefused(kType, process([](T& t) { t.draw = true; }), x, Status::NotSupported, "drawing into a picture");
    expectRefused(kType, process([](T& t) { t.sourceFormat = wire::ImageFormatType::YUV_NV21; }), x,
                  Status::NotSupported, "the source pixel format 11 is not implemented");
    expectRefused(kType, process([](T& t) { t.destFormat = wire::ImageFormatType::HSV; }), x, Status::NotSupported,
                  "the target pixel format 7 is not implemented");
    expectRefused(kType, process([](T& t) { t.filterType = wire::FilterType::BICUBIC; }), x, Status::NotSupported,
                  "the filter 2 is not implemented");
    expectRefused(kType, process([](T& t) { t.wrap = wire::WrapType::REPEAT; }), x, Status::NotSupported,
                  "the wrap mode 2 is not implemented");
    expectRefused(kType, process([](T& t) {
                      t.transform = {1, 0};
                  }),
                  x, Status::BadParameter, "the matrix has 2 values, 9 are needed");
    expectRefused(kType, process([](T& t) {
                      t.shape = {1, 4, 2};
                  }),
                  x, Status::BadParameter, "the shape of the result has 3 extents, 4 are needed");
    expectRefused(kType, process([](T& t) {
                      t.shape = {1, 3, 2, 2};
                  }),
                  x, Status::BadParameter,
                  "the result has 3 channels and the extents 2 x 2, 4 channels and no negative extents");
    expectRefused(kType, process([](T& t) {
                      t.shape = {1, 4, -1, 2};
                  }),
                  x, Status::BadParameter, "the result has 4 channels and the extents -1 x 2");
    expectRefused(kType, process([](T& t) { t.outputType = wire::DataType::DT_INT32; }), x, Status::NotSupported,
                  "pictures of int32 are not implemented");
}

}  // namespace
}  // namespace mnnc::test
