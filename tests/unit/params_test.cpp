// Parameters can only be read as their own type of struct.
#include "ir/params.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/command.h"
#include "ops/binary.h"
#include "ops/unary.h"

namespace mnnc::test {
namespace {

std::string messageOf(const Command& command) {
    try {
        command.paramsAs<UnaryParams>();
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::Internal);
        return error.message();
    }
    return "";
}

TEST(Params, OfAnotherOperatorAreAnError) {
    Command command;
    command.name = "node 7";
    command.params = std::make_shared<BinaryParams>();
    EXPECT_EQ(messageOf(command), "op 'node 7' carries the parameters of another operator");
    EXPECT_EQ(command.paramsIf<UnaryParams>(), nullptr);
    EXPECT_EQ(&command.paramsAs<BinaryParams>(), command.params.get());
    EXPECT_EQ(command.paramsIf<BinaryParams>(), command.params.get());
}

TEST(Params, ThatAreMissingAreAnError) {
    Command command;
    command.name = "node 8";
    EXPECT_EQ(messageOf(command), "op 'node 8' carries no parameters");
    EXPECT_EQ(command.paramsIf<UnaryParams>(), nullptr);
}

TEST(Params, CopiesKeepTheirKind) {
    const BinaryParams first;
    const BinaryParams copy = first;
    EXPECT_EQ(paramsIf<BinaryParams>(&copy), &copy);
    EXPECT_EQ(paramsIf<UnaryParams>(&copy), nullptr);
}

}  // namespace
}  // namespace mnnc::test
