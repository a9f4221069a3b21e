// UnaryOp, and the operators that compute the same as one of its codes.
#include "ops/unary.h"
#include "model/wire_access.h"
#include "ops/families.h"

namespace mnnc {
namespace {

ParamsPtr parseUnary(const wire::Op& op, const ParseContext& context) {
    const wire::UnaryOp* table = op.main_as_UnaryOp();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s' carries no UnaryOp table", name);
    const int code = static_cast<int>(table->opType());
    if (code < 0 || code > 34) fail(Status::BadParameter, "op '%s': unary code %d is unknown (0..34)", name, code);
    auto params = std::make_shared<UnaryParams>();
    // Converters write GELU (32, named like the tanh form) both for erf forms of a net and for ONNX Gelu with either
    // `approximate`. The file lacks the distinction, so the definition by erf, ONNX's default, applies; it differs from
    // the other by less than 5e-4. A tanh form of single operators stays as it is in the file.
    params->code = code == kUnaryGelu ? static_cast<int>(kUnaryGeluStandard) : code;
    return params;
}

ParamsPtr parseFixed(const wire::Op&, const ParseContext& context) {
    auto params = std::make_shared<UnaryParams>();
    switch (context.node.type) {
        case OpType::Sigmoid:
            params->code = kUnarySigmoid;
            break;
        case OpType::TanH:
            params->code = kUnaryTanh;
            break;
        case OpType::Bnll:
            params->code = 17;
            break;
        case OpType::Exp:
            params->code = 7;
            break;
        case OpType::Log:
            params->code = 8;
            break;
        default:
            params->code = 0;
            break;  // AbsVal
    }
    return params;
}

void toUnary(const OpContext& context) {
    ValueCommand command = context.command();
    command.type = OpType::UnaryOp;
    context.geometry.emit(std::move(command));
}

}  // namespace

constexpr OpDef kUnaryOps[] = {
    {.type = OpType::UnaryOp, .parse = parseUnary},
    {.type = OpType::Sigmoid, .parse = parseFixed, .geometry = toUnary},
    {.type = OpType::TanH, .parse = parseFixed, .geometry = toUnary},
    {.type = OpType::AbsVal, .parse = parseFixed, .geometry = toUnary},
    {.type = OpType::Bnll, .parse = parseFixed, .geometry = toUnary},
    {.type = OpType::Exp, .parse = parseFixed, .geometry = toUnary},
    {.type = OpType::Log, .parse = parseFixed, .geometry = toUnary},
};
extern constinit const OpFamily unaryOps = kUnaryOps;

}  // namespace mnnc
