// GroupNorm: row-major and packed groups, with and without gamma and beta, added values, SiLU.
#include "ops/group_norm.h"

#include <gtest/gtest.h>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

TEST(GroupNorm, Forms) {
    for (const auto& [shape, groups] : {std::pair{Shape{2, 6, 5, 3}, 3},
                                        {Shape{1, 24, 4, 7}, 3},
                                        {Shape{3, 8, 9}, 2},
                                        {Shape{2, 5, 1, 1}, 1},
                                        {Shape{1, 12, 31, 33}, 1},
                                        {Shape{2, 9}, 3},
                                        {Shape{1, 16, 2, 3, 5}, 4},
                                        {Shape{1, 7, 4, 4}, 7}})
        for (const bool packed : {false, true})
            for (int form = 0; form < 8; ++form) {
                auto params = std::make_shared<GroupNormParams>();
                params->groups = groups;
                params->epsilon = 1e-5f;
                params->silu = (form & 1) != 0;
                if (form & 2) {
                    params->gamma = randomValue({shape[1]}, 31).floats;
                    params->beta = randomValue({shape[1]}, 32).floats;
                }
                Value input = randomValue(shape, 7, -2, 3);
                input.packed = packed;
                OpCase c = sameShape(OpType::GroupNorm, params, input);
                if (form & 4) c.inputs.push_back(randomValue({shape[0], shape[1]}, 8, -3, 3));
                expectSameAsCpu(c, 5e-6);
            }
}

TEST(GroupNorm, LongRows) {
    auto params = std::make_shared<GroupNormParams>();
    params->groups = 1;
    expectSameAsCpuOrRefused(sameShape(OpType::GroupNorm, params, randomValue({1, 1, 1030001}, 3)), "rounds", 1e-4);
}

TEST(GroupNorm, Empty) {
    auto params = std::make_shared<GroupNormParams>();
    expectRefused(sameShape(OpType::GroupNorm, params, randomValue({0, 6, 5, 3}, 7)), "empty");
}

}  // namespace mnnc::vulkan::test
