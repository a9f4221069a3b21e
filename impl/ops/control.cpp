// If and While. Where the session runs subgraphs there is no shape rule: the session takes the shapes of their results.
#include "ops/control.h"

#include "base/error.h"
#include "mnn_generated.h"
#include "ops/families.h"

namespace mnnc {

namespace {

std::string text(const flatbuffers::String* string) {
    return string ? string->str() : std::string();
}

NameLists nameLists(const flatbuffers::Vector<flatbuffers::Offset<wire::StringVec>>* lists) {
    NameLists result;
    if (!lists) return result;
    for (const wire::StringVec* list : *lists) {
        std::vector<std::string>& names = result.emplace_back();
        if (list && list->data())
            for (const flatbuffers::String* name : *list->data()) names.push_back(text(name));
    }
    return result;
}

ParamsPtr parseIf(const wire::Op& op, const ParseContext& context) {
    const wire::IfParam* table = op.main_as_IfParam();
    if (!table) fail(Status::BadParameter, "op '%s' (If) carries no IfParam table", context.node.name.c_str());
    auto params = std::make_shared<IfParams>();
    params->thenGraph = text(table->then_graph());
    params->elseGraph = text(table->else_graph());
    params->inputAliases = nameLists(table->aliases_inputs());
    params->outputAliases = nameLists(table->aliases_outputs());
    return params;
}

ParamsPtr parseWhile(const wire::Op& op, const ParseContext& context) {
    if (const wire::LoopParam* loop = op.main_as_LoopParam()) return parseRegionLoop(*loop, context);
    const wire::WhileParam* table = op.main_as_WhileParam();
    if (!table) fail(Status::BadParameter, "op '%s' (While) carries no WhileParam table", context.node.name.c_str());
    auto params = std::make_shared<WhileParams>();
    params->condGraph = text(table->cond_graph());
    params->bodyGraph = text(table->body_graph());
    params->inputAliases = nameLists(table->aliases_inputs());
    if (table->aliases_outputs())
        for (const flatbuffers::String* name : *table->aliases_outputs()) params->outputAliases.push_back(text(name));
    params->updates = nameLists(table->aliases_updates());
    return params;
}

}  // namespace

constexpr OpDef kControlOps[] = {
    {.type = OpType::If, .parse = parseIf},
    {.type = OpType::While,
     .parse = parseWhile,
     .writtenInputs = writtenByRegionLoop,
     .shape = shapeRegionLoop,
     .keepRest = keepRestOfRegionLoop,
     .flops = regionLoopFlops},
};
extern constinit const OpFamily controlOps = kControlOps;

}  // namespace mnnc
