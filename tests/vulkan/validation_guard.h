// Every test fails when the validation layer sends a message that the test did not provoke.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "backends/vulkan/device/instance.h"

namespace mnnc::vulkan::test {

class ValidationGuard final : public ::testing::EmptyTestEventListener {
  public:
    static uint64_t unexpected() { return Instance::validationMessages() - provoked(); }
    static uint64_t during(const std::function<void()>& body) {
        const uint64_t before = Instance::validationMessages();
        body();
        const uint64_t said = Instance::validationMessages() - before;
        provoked() += said;
        return said;
    }

    // Keeps an object, such as a device with its pipelines, until the present test ends.
    static void keep(std::shared_ptr<void> thing) { kept() = std::move(thing); }

  private:
    static std::shared_ptr<void>& kept() {
        static std::shared_ptr<void> thing;
        return thing;
    }
    static uint64_t& provoked() {
        static uint64_t count = 0;
        return count;
    }
    void OnTestStart(const ::testing::TestInfo&) override { before_ = unexpected(); }
    void OnTestEnd(const ::testing::TestInfo&) override {
        kept().reset();
        if (unexpected() != before_)
            ADD_FAILURE() << unexpected() - before_ << " messages of the Vulkan validation layer, see above";
    }
    uint64_t before_ = 0;
};

}  // namespace mnnc::vulkan::test
