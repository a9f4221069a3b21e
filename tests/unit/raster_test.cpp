// The Raster operator as a file gives it: a shape and a region for each input.
#include <gtest/gtest.h>

#include <cmath>

#include "net_builder.h"

namespace mnnc::test {
namespace {

struct Part {
    int32_t from, to, count;  // `count` elements one after another
};

// Copies a part of each input into an output of `elements` elements.
wire::NetT rasterNet(int32_t elements, const std::vector<Part>& parts) {
    wire::ExtraT extra;
    const auto list = [&](const char* key, std::vector<int32_t> values) {
        auto attribute = std::make_unique<wire::AttributeT>();
        attribute->key = key;
        attribute->list = std::make_unique<wire::ListValueT>();
        attribute->list->i = std::move(values);
        extra.attr.push_back(std::move(attribute));
    };
    list("shape", {elements});
    wire::NetT net;
    std::vector<int32_t> inputs, regions;
    for (const Part& part : parts) {
        const auto id = static_cast<int32_t>(inputs.size());
        inputs.push_back(id);
        net.tensorName.push_back("in" + std::to_string(id));
        net.oplists.push_back(makeInput(id, {4}));
        net.oplists.back()->name = net.tensorName.back();
        for (const int32_t value : {part.from, 0, 0, 1, part.to, 0, 0, 1, 1, 1, part.count})
            regions.push_back(value);
    }
    list("region", std::move(regions));
    const auto output = static_cast<int32_t>(inputs.size());
    net.tensorName.push_back("out");
    net.outputName = {"out"};
    net.oplists.push_back(
        makeOp(wire::OpType::Raster, "raster", std::move(inputs), {output}, std::move(extra)));
    return net;
}

// Element `i` of input `input` of runNet.
float given(int input, int i) {
    return 3 * std::sin(static_cast<float>(i * 7 + 11 * input + 1));
}

TEST(Raster, CopiesRegionsOfManyElementsOfOneAndOfNone) {
    const NetResult result = runNet(rasterNet(7, {{2, 4, 1}, {0, 0, 4}, {1, 5, 0}, {3, 5, 1}, {1, 6, 1}}));
    EXPECT_EQ(result.outputs[0], (std::vector<float>{given(1, 0), given(1, 1), given(1, 2), given(1, 3),
                                                     given(0, 2), given(3, 3), given(4, 1)}));
}

}  // namespace
}  // namespace mnnc::test
