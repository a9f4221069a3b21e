// The loop of ONNX: it runs while iteration < limit and condition > 0, passes carried values on by position, and stacks
// scan outputs on axis 0.
#include <algorithm>
#include <cstring>

#include "session/while_node.h"
#include "tensor/tensor_list.h"

namespace mnnc {

namespace {

int64_t tripLimit(const Located& limit, const char* name) {
    const Operand& tensor = limit.tensor;
    if (tensor.type != DataType::Int32 || tensor.empty())
        fail(Status::BadType, "op '%s' (While): the trip limit must be an int32 element, it is %s of shape %s", name,
             dataTypeName(tensor.type), tensor.shape.text().c_str());
    return *static_cast<const int32_t*>(limit.data);
}

}  // namespace

CountedLoop::CountedLoop(SessionContext& context, GraphTensors& tensors, const Node& node)
    : ControlNode(tensors, node),
      context_(context),
      name_(node.name),
      body_(context, node.paramsAs<WhileParams>().bodyGraph, name_.c_str()),
      iteration_(context),
      condition_(context) {
    if (inputCount() < 2)
        fail(Status::BadFormat, "op '%s' (While) has %zu inputs, at least 2 are needed", name_.c_str(), inputCount());
    carried_ = inputCount() - 2;
    if (outputCount() < carried_ || body_.inputs() != carried_ + 2 || body_.outputs() != outputCount() + 1)
        fail(Status::BadFormat,
             "op '%s' (While): %zu carried values and %zu outputs do not fit a body of %zu inputs and %zu "
             "outputs",
             name_.c_str(), carried_, outputCount(), body_.inputs(), body_.outputs());
    for (size_t i = 0; i < carried_; ++i) {
        values_.emplace_back(context);
        constant_.push_back(body_.passesThrough(i + 2, i + 1));
    }
    for (size_t i = 0; i < outputCount(); ++i) memory_.emplace_back(context);
    // Initial states of batch 1 that grow to the batch of the inputs are common: then the first iteration has a plan of
    // its own in each run.
    body_.pipeline().keepFurtherPlans(1);
    first_.resize(body_.inputs());
    iteration_.tensor.type = DataType::Int32;
    iteration_.memory.reserve(4, "a loop counter");
}

void CountedLoop::startIteration(int64_t iteration) {
    Pipeline& body = body_.pipeline();
    *static_cast<int32_t*>(iteration_.memory.data()) = static_cast<int32_t>(iteration);
    const bool wasPrepared = body.prepared();
    body_.describe(0, iteration_.tensor);
    body_.describe(1, condition_.tensor);
    for (size_t i = 0; i < carried_; ++i) body_.describe(i + 2, values_[i].tensor);
    // While the plan is the same, the memory of inputs still has the values of the previous iteration.
    const bool kept = wasPrepared && body.prepared() && iteration > 0;
    if (iteration == 0)
        for (size_t i = 0; i < first_.size(); ++i) first_[i] = body.described(i);
    firstDiffers_ |= iteration == 1 && !kept;
    varying_ |= iteration > 1 && !kept;
    body.prepare();
    body_.fill(0, iteration_.located());
    body_.fill(1, condition_.located());
    for (size_t i = 0; i < carried_; ++i)
        if (!kept || !constant_[i]) body_.fill(i + 2, values_[i].located());
}

// Returns the number of iterations in every run of this plan; -1 where values of the run decide it, or where iterations
// differ.
int64_t CountedLoop::knownTrips() const {
    const Operand &limit = input(0).tensor, &condition = input(1).tensor;
    if (!conditionKnown(limit) || limit.type != DataType::Int32 || !conditionKnown(condition)) return -1;
    const int64_t trips = std::max<int64_t>(tripLimit(input(0), name_.c_str()), 0);
    if (trips == 0 || !conditionHolds(input(1), name_.c_str())) return 0;
    if (varying_ || !body_.pipeline().singleStage()) return -1;
    if (trips == 1) return 1;
    const Operand& next = body_.pipeline().output(0);
    if (body_.passesThrough(1, 0)) return trips;
    if (!conditionKnown(next)) return -1;
    return conditionHolds(body_.output(0), name_.c_str()) ? trips : 1;
}

void CountedLoop::appendScans(int64_t iteration, int64_t limit) {
    for (size_t i = carried_; i < outputCount(); ++i) {
        const Located result = body_.output(i + 1);
        const Operand& part = result.tensor;
        if (part.list) fail(Status::NotSupported, "op '%s' (While): scan output %zu is a sequence", name_.c_str(), i);
        Operand& stack = output(i);
        Shape shape = part.shape;
        shape.insert(0, 0);
        const int64_t bytes = hostBytes(part, rowMajor(part));
        if (iteration == 0) {
            stack.shape = shape;
            stack.type = part.type;
            stack.format = part.format;
            // Room for a likely number of iterations at once; it grows below when the limit is only nominal.
            memory_[i].reserve(
                bytes * std::min<int64_t>(limit, std::max<int64_t>(1, (1 << 20) / std::max<int64_t>(bytes, 1))),
                "a scan output");
        } else {
            Shape now = stack.shape;
            now[0] = 0;
            if (!(now == shape) || stack.type != part.type)
                fail(Status::ComputeSizeError, "op '%s' (While): scan output %zu changes its shape between iterations",
                     name_.c_str(), i);
            const int64_t needed = checkedMul(bytes, iteration + 1, "a scan output");
            if (needed > memory_[i].size()) {
                AlignedBuffer saved(bytes * iteration, context_.hostMemory);
                std::memcpy(saved.data(), memory_[i].data(), saved.size());
                memory_[i].reserve(checkedMul(needed, 2, "a scan output"), "a scan output");
                std::memcpy(memory_[i].data(), saved.data(), saved.size());
            }
        }
        place(i, memory_[i]);
        copyToHost(part, result.data, static_cast<char*>(memory_[i].data()) + bytes * iteration, rowMajor(part));
        stack.shape[0] = iteration + 1;
    }
}

// Plans the body for the initial values. Returns false where it has no plan for them, or needs a run to complete it.
bool CountedLoop::planBody() {
    try {
        startIteration(0);
    } catch (const Error& error) {
        if (error.status() == Status::OutOfMemory || error.status() == Status::Cancelled ||
            error.status() == Status::CallbackStop || error.status() == Status::LimitExceeded)
            throw;
        return false;
    }
    return body_.pipeline().singleStage();
}

// Gives the scan outputs of a loop without an iteration no parts: of the shape and type that the body's plan has, so
// that consumers get the rank and the extents that they expect. They are empty vectors where there is no such plan.
void CountedLoop::emptyScans() {
    if (outputCount() == carried_) return;
    const bool planned = planBody();
    for (size_t i = carried_; i < outputCount(); ++i) {
        Operand none;
        none.name = output(i).name;
        none.number = output(i).number;
        none.quant = output(i).quant;  // later stages are planned with the scale of the tensor
        none.shape = Shape{0};
        if (const Operand* part = planned ? &body_.pipeline().output(i + 1) : nullptr; part && !part->list) {
            none.shape = part->shape;
            none.shape.insert(0, 0);
            none.type = part->type;
            none.format = part->format;
        }
        output(i) = none;
    }
}

void CountedLoop::execute() {
    const int64_t limit = tripLimit(input(0), name_.c_str());
    bool goesOn = conditionHolds(input(1), name_.c_str());
    condition_.assign(input(1));
    firstDiffers_ = varying_ = false;
    for (size_t i = 0; i < carried_; ++i) values_[i].assign(input(i + 2));

    int64_t iteration = 0;
    for (; iteration < limit && goesOn; ++iteration) {
        rounds_.begin(context_, name_);
        startIteration(iteration);
        body_.run();
        goesOn = conditionHolds(body_.output(0), name_.c_str());
        for (size_t i = 0; i < carried_; ++i)
            if (!constant_[i]) values_[i].assign(body_.output(i + 1));
        appendScans(iteration, limit);
    }
    for (size_t i = 0; i < carried_; ++i) give(i, memory_[i], values_[i].located());
    if (iteration == 0) emptyScans();
}

void CountedLoop::appendBodies(std::vector<OpRecord>& records) const {
    const size_t begin = records.size();
    body_.pipeline().appendRecords(records);
    const int64_t trips = knownTrips();
    if (!firstDiffers_ || trips < 2) return repeatWork(records, begin, trips);
    // The first iteration has a plan of its own, in which operators may be grouped in another way.
    repeatWork(records, begin, trips - 1);
    std::vector<OpRecord> first;
    const bool alike = body_.pipeline().appendKeptRecords(first_, first) &&
                       std::equal(first.begin(), first.end(), records.begin() + static_cast<ptrdiff_t>(begin),
                                  records.end(), [](const OpRecord& a, const OpRecord& b) {
                                      return a.name == b.name && a.flops >= 0 && b.flops >= 0;
                                  });
    if (!alike) return repeatWork(records, begin, -1);
    for (size_t i = 0; i < first.size(); ++i) records[begin + i].flops += first[i].flops;
}

void CountedLoop::trim() {
    body_.pipeline().trim();
}

ControlNode::Bodies CountedLoop::bodies() const {
    return {&body_.pipeline(), nullptr};
}

}  // namespace mnnc
