// Control flow: branches and loops, whose bodies become subgraphs. Outer values that a body uses become its inputs.
#include <algorithm>
#include <optional>

#include "../importer.h"
#include "base/error.h"
#include "helpers.h"
#include "loops.h"

namespace mnnc::onnx {
namespace {

const Graph& bodyOf(Call& c, const char* name) {
    const Attribute* found = c.attribute(name);
    if (!found || !found->graph) fail(Status::BadFormat, "the attribute %s is missing", name);
    return *found->graph;
}

// ---- If ----

// The result of two branches: extents that differ are open.
Output joined(Call& c, const Value& a, const Value& b) {
    Output result{a.dims, a.type, a.chance};
    for (size_t axis = 0; axis < a.rank(); ++axis) {
        if (a.dims[0][axis] != b.dims[0][axis] || a.dims[1][axis] != b.dims[1][axis]) {
            const auto open = c.b.openDims({-1});
            for (size_t p = 0; p < kProbes; ++p) result.dims[p][axis] = open[p][0];
        } else if (!b.fixed(axis)) {
            result.chance.resize(a.rank());
            result.chance[axis] = true;
        }
    }
    return result;
}

struct Branch {
    Scope* scope = nullptr;
    std::vector<V> results;
    std::vector<int> tensors;
};

Branch readBranch(Call& c, const char* name) {
    const Graph& graph = bodyOf(c, name);
    Inside inside(c.b, c.b.scopeName(name));
    Branch branch;
    branch.results = c.importer.body(graph, {});
    if (branch.results.size() < c.node.outputs.size())
        fail(Status::BadFormat, "%s gives %zu values in place of %zu", name, branch.results.size(),
             c.node.outputs.size());
    c.b.setName(inside.scope().name);
    for (V value : branch.results) branch.tensors.push_back(outputOf(c, value));
    branch.scope = &inside.keep();
    branch.scope->outputs = branch.tensors;
    for (const auto& [outer, inner] : branch.scope->captured) branch.scope->inputs.push_back(inner->tensor);
    return branch;
}

std::unique_ptr<wire::StringVecT> names(std::vector<std::string> list) {
    auto result = std::make_unique<wire::StringVecT>();
    result->data = std::move(list);
    return result;
}

// The branch that both sets of numbers for free extents take; empty: they differ, or only a run decides it.
std::optional<bool> takenBranch(const Value& condition) {
    const auto& [first, second] = condition.content;
    if (!first || !second || first->count() != 1 || second->count() != 1) return {};
    const bool taken = first->intAt(0) != 0;
    return taken == (second->intAt(0) != 0) ? std::optional(taken) : std::nullopt;
}

void takeBranch(Call& c, bool yes) {
    const std::vector<V> results = c.importer.body(bodyOf(c, yes ? "then_branch" : "else_branch"), {});
    for (size_t i = 0; i < c.node.outputs.size() && i < results.size(); ++i) c.out(i, results[i]);
}

void takeBothBranches(Call& c, V condition) {
    const size_t count = c.node.outputs.size();
    condition = scalarOf(c, condition);
    const std::string name = c.b.name();
    NewScopes made(c.b);
    const Branch yes = readBranch(c, "then_branch"), no = readBranch(c, "else_branch");
    c.b.setName(name);
    wire::IfParamT table;
    table.then_graph = yes.scope->name;
    table.else_graph = no.scope->name;
    std::vector<V> inputs{condition};
    std::vector<std::vector<std::string>> aliases(1);
    std::unordered_map<int, size_t> places;  // in `inputs`, by tensor
    for (const Branch* branch : {&yes, &no})
        for (const auto& [outer, inner] : branch->scope->captured) {
            const auto [place, isNew] = places.emplace(outer->tensor, inputs.size());
            if (isNew) {
                inputs.push_back(outer);
                aliases.emplace_back();
            }
            aliases[place->second].push_back(branch->scope->tensors[static_cast<size_t>(inner->tensor)]);
        }
    for (std::vector<std::string>& list : aliases) table.aliases_inputs.push_back(names(std::move(list)));
    std::vector<Output> results;
    for (size_t i = 0; i < count; ++i) {
        const Value &a = *yes.results[i], &b = *no.results[i];
        if (a.rank() != b.rank()) refuse("its branches give tensors of rank %zu and %zu", a.rank(), b.rank());
        if (a.type != b.type) refuse("its branches give tensors of different types");
        results.push_back(joined(c, a, b));
        table.aliases_outputs.push_back(names({yes.scope->tensors[static_cast<size_t>(yes.tensors[i])],
                                               no.scope->tensors[static_cast<size_t>(no.tensors[i])]}));
    }
    const std::vector<V> outputs = c.b.given(OpType::If, table, inputs, results);
    made.keep();
    for (size_t i = 0; i < count; ++i) c.out(i, c.b.alias(outputs[i], yes.results[i]->elem));
}

// A condition over free extents often has a branch for extents of 1, which has another rank or cannot be computed with
// other numbers. Where both cannot be kept, the net gets the one that the numbers for free extents take.
void emitIf(Call& c) {
    V condition = c.in(0);
    if (condition->constant) return takeBranch(c, condition->array().intAt(0) != 0);
    const std::optional<bool> taken = takenBranch(*condition);
    if (!taken) return takeBothBranches(c, condition);
    auto& problems = c.importer.report().problems;
    const size_t before = problems.size();  // NOLINT(clang-analyzer-deadcode.DeadStores): read where both throw
    const std::string name = c.b.name();
    try {
        return takeBothBranches(c, condition);
    } catch (const Error& error) {
        if (error.status() == Status::OutOfMemory || error.status() == Status::Cancelled ||
            error.status() == Status::CallbackStop || error.status() == Status::LimitExceeded)
            throw;
        if (!c.importer.mayReadBranchAgain()) throw;
    }
    problems.resize(before);
    c.importer.note(
        "The If '" + name + "' keeps its " + (*taken ? "then" : "else") +
        " branch alone, which the numbers that stand for free extents take: the net is not valid for extents "
        "that take the other one.");
    c.b.setName(name);
    takeBranch(c, *taken);
}

// ---- Loops ----

// A body may declare its counter and its condition as lists of one element.
V asDeclared(Call& c, V scalar, const Graph& body, size_t input) {
    const bool list = input < body.inputs.size() && body.inputs[input].shape.size() == 1;
    return list ? reshape(c, scalar, {1}) : scalar;
}

void emitLoop(Call& c) {
    const Graph& graph = bodyOf(c, "body");
    V limit = c.maybe(0) ? c.in(0) : c.b.scalar(kToEnd);
    V condition = c.maybe(1) ? c.in(1) : c.b.constant(intScalar(1), Elem::Bool);
    limit = scalarOf(c, limit);
    condition = scalarOf(c, condition);
    if (limit->constant && limit->array().saturated) limit = c.b.scalar(kToEnd);
    std::vector<V> initial;
    for (size_t i = 2; i < c.inputs.size(); ++i) initial.push_back(c.in(i));
    const size_t count = initial.size();
    const bool always = !c.maybe(1) || (condition->constant && condition->array().intAt(0) != 0);
    const LoopResult loop =
        writeLoop(c, limit, condition, initial, [&](V iteration, V goesOn, const std::vector<V>& carried) {
            std::vector<V> inputs{asDeclared(c, iteration, graph, 0), asDeclared(c, goesOn, graph, 1)};
            inputs.insert(inputs.end(), carried.begin(), carried.end());
            std::vector<V> results = c.importer.body(graph, inputs);
            if (results.size() < count + 1)
                fail(Status::BadFormat, "its body gives %zu values, %zu are needed", results.size(), count + 1);
            Round round;
            // A condition that is passed on unchanged, or is always true, never ends the loop.
            const bool passedOn =
                results[0]->constant ? results[0]->array().intAt(0) != 0
                                     : results[0]->scope == inputs[1]->scope && results[0]->tensor == inputs[1]->tensor;
            const bool ends = !always || !passedOn;
            if (ends) round.condition = scalarOf(c, results[0]);
            round.carried.assign(results.begin() + 1, results.begin() + 1 + static_cast<std::ptrdiff_t>(count));
            round.scanned.assign(results.begin() + 1 + static_cast<std::ptrdiff_t>(count), results.end());
            return round;
        });
    for (size_t i = 0; i < count; ++i) c.out(i, loop.finals[i]);
    for (size_t i = 0; i < loop.stacks.size(); ++i) c.out(count + i, loop.stacks[i]);
}

void emitScan(Call& c) {
    const Graph& graph = bodyOf(c, "body");
    const int64_t given = c.integer("num_scan_inputs", 0);
    if (given < 1 || given > static_cast<int64_t>(c.inputs.size()))
        fail(Status::BadFormat, "num_scan_inputs is %lld; it must be 1 to %zu", asLong(given), c.inputs.size());
    const auto scans = static_cast<size_t>(given), states = c.inputs.size() - scans;
    const auto list = [&](const char* name, size_t count) {
        std::vector<int64_t> values = c.integers(name).value_or(std::vector<int64_t>());
        values.resize(count, 0);
        return values;
    };
    const size_t results = c.node.outputs.size() - std::min(states, c.node.outputs.size());
    std::vector<int64_t> inAxes = list("scan_input_axes", scans);
    const std::vector<int64_t> inBackwards = list("scan_input_directions", scans);
    const std::vector<int64_t> outAxes = list("scan_output_axes", results),
                               outBackwards = list("scan_output_directions", results);
    std::vector<V> initial;
    for (size_t i = 0; i < states; ++i) initial.push_back(c.in(i));
    for (size_t i = 0; i < scans; ++i) inAxes[i] = axisOf(inAxes[i], c.in(states + i)->rank());
    V limit = extentOf(c, c.in(states), inAxes[0]);
    V always = c.b.constant(intScalar(1), Elem::Bool);
    const LoopResult loop = writeLoop(c, limit, always, initial, [&](V iteration, V, const std::vector<V>& carried) {
        std::vector<V> inputs = carried;
        for (size_t i = 0; i < scans; ++i) {
            V whole = c.in(states + i), at = iteration;
            if (inBackwards[i] != 0) at = sub(c, sub(c, extentOf(c, whole, inAxes[i]), c.b.scalar(1)), iteration);
            inputs.push_back(c.b.alias(gatherAxis(c, whole, at, inAxes[i]), whole->elem));
        }
        std::vector<V> made = c.importer.body(graph, inputs);
        if (made.size() < states)
            fail(Status::BadFormat, "its body gives %zu values, %zu are needed", made.size(), states);
        Round round;
        round.carried.assign(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(states));
        round.scanned.assign(made.begin() + static_cast<std::ptrdiff_t>(states), made.end());
        return round;
    });
    for (size_t i = 0; i < states; ++i) c.out(i, loop.finals[i]);
    for (size_t i = 0; i < loop.stacks.size() && i < results; ++i) {
        V stack = loop.stacks[i];
        if (outBackwards[i] != 0) stack = reverse(c, stack, 0);
        const int64_t axis = axisOf(outAxes[i], stack->rank());
        if (axis != 0) {
            std::vector<int64_t> order;
            for (int64_t k = 1; k < static_cast<int64_t>(stack->rank()); ++k) order.push_back(k);
            order.insert(order.begin() + axis, 0);
            stack = permute(c, stack, order);
        }
        c.out(states + i, stack);
    }
}

// ---- Sequences whose length is known while converting ----

constexpr size_t kMaxSequence = 4096;  // elements, each of which takes operators

const Value& sequenceIn(Call& c, size_t i) {
    V value = c.in(i);
    if (!value->isSequence) fail(Status::BadFormat, "input %zu is no sequence", i);
    return *value;
}

size_t positionIn(Call& c, size_t i, size_t count, bool behind) {
    int64_t at = c.constant(i).intAt(0);
    const auto size = static_cast<int64_t>(count);
    if (at < 0) at += size;
    if (at < 0 || at > size || (at == size && !behind))
        fail(Status::BadIndex, "position %lld is outside of a sequence of %zu elements", asLong(at), count);
    return static_cast<size_t>(at);
}

void emitSequenceConstruct(Call& c) {
    std::vector<V> elements;
    for (size_t i = 0; i < c.inputs.size(); ++i) elements.push_back(c.in(i));
    c.out(c.b.sequence(c.b.name(), elements));
}

void emitSequenceEmpty(Call& c) {
    c.out(c.b.sequence(c.b.name(), {}));
}

void emitSequenceAt(Call& c) {
    const Value& sequence = sequenceIn(c, 0);
    c.out(sequence.elements[positionIn(c, 1, sequence.elements.size(), false)]);
}

void emitSequenceInsert(Call& c) {
    std::vector<V> elements = sequenceIn(c, 0).elements;
    const size_t at = c.maybe(2) ? positionIn(c, 2, elements.size(), true) : elements.size();
    elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(at), c.in(1));
    c.out(c.b.sequence(c.b.name(), elements));
}

void emitSequenceErase(Call& c) {
    std::vector<V> elements = sequenceIn(c, 0).elements;
    if (elements.empty()) fail(Status::BadIndex, "the sequence is empty");
    const size_t at = c.maybe(1) ? positionIn(c, 1, elements.size(), false) : elements.size() - 1;
    elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(at));
    c.out(c.b.sequence(c.b.name(), elements));
}

void emitSequenceLength(Call& c) {
    c.out(c.b.scalar(static_cast<int64_t>(sequenceIn(c, 0).elements.size())));
}

void emitConcatFromSequence(Call& c) {
    std::vector<V> parts = sequenceIn(c, 0).elements;
    if (parts.empty()) refuse("its sequence is empty");
    const bool stacks = c.integer("new_axis", 0) != 0;
    const int64_t axis = axisOf(c.integer("axis", 0), parts[0]->rank() + (stacks ? 1 : 0));
    if (stacks)
        for (V& part : parts) part = unsqueeze(c, part, {axis});
    c.out(concat(c, parts, axis));
}

// Runs its body for each element of the first sequence, with the elements of others at the same position.
void emitSequenceMap(Call& c) {
    const Graph& graph = bodyOf(c, "body");
    const size_t count = sequenceIn(c, 0).elements.size();
    if (count > kMaxSequence) refuse("its sequence has %zu elements; %zu is the maximum", count, kMaxSequence);
    if (graph.nodes.empty()) refuse("its body has no nodes");  // the limit of nodes bounds the time that bodies take
    std::vector<std::vector<V>> results(c.node.outputs.size());
    for (size_t at = 0; at < count; ++at) {
        std::vector<V> inputs;
        for (size_t i = 0; i < c.inputs.size(); ++i) {
            V value = c.in(i);
            if (value->isSequence && value->elements.size() != count)
                fail(Status::BadFormat, "input %zu has %zu elements, the first one %zu", i, value->elements.size(),
                     count);
            inputs.push_back(value->isSequence ? value->elements[at] : value);
        }
        const std::vector<V> made = c.importer.body(graph, inputs);
        if (made.size() < results.size())
            fail(Status::BadFormat, "its body gives %zu values, %zu are needed", made.size(), results.size());
        for (size_t i = 0; i < results.size(); ++i) results[i].push_back(made[i]);
    }
    for (size_t i = 0; i < results.size(); ++i) c.out(i, c.b.sequence(c.b.name(), results[i]));
}

void emitSplitToSequence(Call& c) {
    V x = c.in(0);
    const int64_t axis = axisOf(c.integer("axis", 0), x->rank()), extent = x->extent(static_cast<size_t>(axis));
    std::vector<int64_t> sizes;
    const bool each = !c.maybe(1);
    const auto requireFew = [](int64_t pieces) {
        if (pieces > static_cast<int64_t>(kMaxSequence))
            refuse("it makes %lld pieces; %zu is the maximum", asLong(pieces), kMaxSequence);
    };
    if (each) {
        requireFew(extent);
        sizes.assign(static_cast<size_t>(extent), 1);
    } else if (c.in(1)->rank() == 0) {
        const int64_t size = c.constant(1).intAt(0);
        if (size < 1) fail(Status::BadRange, "its pieces have %lld elements; 1 or more are needed", asLong(size));
        requireFew(extent / size);
        for (int64_t at = 0; at < extent; at += size) sizes.push_back(std::min(size, extent - at));
    } else {
        sizes = c.list(1);
    }
    requireFew(static_cast<int64_t>(sizes.size()));
    std::vector<V> parts;
    int64_t at = 0;
    for (const int64_t size : sizes) {
        if (size < 0 || size > extent - at)
            fail(Status::BadRange, "a piece of %lld elements is not inside of the axis", asLong(size));
        V part = sliceAxis(c, x, axis, at, at + size);
        parts.push_back(each && c.integer("keepdims", 1) == 0 ? squeeze(c, part, {axis}) : part);
        at += size;
    }
    c.out(c.b.sequence(c.b.name(), parts));
}

}  // namespace

constexpr Entry kControlEntries[] = {
    {"ConcatFromSequence", 11, kNewest, emitConcatFromSequence, "Concat", "Sequences out of loops and branches."},
    {"If", 1, kNewest, emitIf,
     "If; the branch itself where the condition is a constant, or over free extents where both cannot be kept",
     "Branches that give tensors of different ranks or types, where a run decides; sequences."},
    {"Loop", 1, kNewest, emitLoop, "While",
     "Values that change their rank from round to round; sequences through rounds whose number a run decides."},
    {"Scan", 9, kNewest, emitScan, "While, GatherV2", "Values that change their rank from round to round; opset 8."},
    {"SequenceAt", 11, kNewest, emitSequenceAt, "nothing", "A position that is fed."},
    {"SequenceConstruct", 11, kNewest, emitSequenceConstruct, "nothing", "Sequences as inputs and outputs of the net."},
    {"SequenceEmpty", 11, kNewest, emitSequenceEmpty, "nothing"},
    {"SequenceErase", 11, kNewest, emitSequenceErase, "nothing", "A position that is fed."},
    {"SequenceInsert", 11, kNewest, emitSequenceInsert, "nothing", "A position that is fed."},
    {"SequenceLength", 11, kNewest, emitSequenceLength, "Const"},
    {"SequenceMap", 17, kNewest, emitSequenceMap, "its body for each element",
     "Sequences as inputs and outputs of the net."},
    {"SplitToSequence", 11, kNewest, emitSplitToSequence, "StridedSlice", "Pieces that are fed, a free extent."},
};
extern constinit const Family controlFamily = kControlEntries;

}  // namespace mnnc::onnx
