#include "backends/vulkan/device/shaders.h"

#include <gtest/gtest.h>

#include <string_view>

using namespace mnnc::vulkan;

namespace {

// SPIR-V, version 1.5, 2.3 (physical layout of a module): a header of five words, then instructions that begin with
// their number of words.
TEST(Shaders, UnpackToWholeModules) {
    ASSERT_GT(embeddedShaders().size(), 100u);
    std::string_view before;
    for (const ShaderCode& code : embeddedShaders()) {
        SCOPED_TRACE(code.name);
        EXPECT_LT(before, code.name);  // PipelineFactory searches by bisection
        before = code.name;
        const std::vector<uint32_t> words = unpackShader(code);
        ASSERT_EQ(words.size(), code.words);
        EXPECT_LT(code.bytes, words.size() * 3);
        EXPECT_EQ(words[0], 0x07230203u);
        size_t at = 5;
        while (at < words.size() && words[at] >> 16 != 0) at += words[at] >> 16;
        EXPECT_EQ(at, words.size());
    }
}

}  // namespace
