#include "session/allocator.h"

#include <algorithm>

#include "base/error.h"
#include "tensor/region_check.h"

namespace mnnc {

namespace {

bool sameChannels(const Tensor& a, const Tensor& b) {
    return a.shape.rank() >= 2 && b.shape.rank() >= 2 && a.format != Format::NHWC &&
           b.format != Format::NHWC && a.shape[0] == b.shape[0] && a.shape[1] == b.shape[1] &&
           a.plane() == b.plane();
}

// One pixel and whole blocks: packed and row-major are the same bytes.
bool packsToItself(const Tensor& tensor, int pack) {
    return tensor.plane() == 1 && tensor.shape[1] % pack == 0;
}

Tensor* rootOf(Tensor* tensor) {
    while (tensor->aliasOf) tensor = tensor->aliasOf;
    return tensor;
}

// The earliest tensor of the same bytes, channels and storage.
Tensor* canonical(Tensor* tensor) {
    while (tensor->aliasOf && tensor->aliasOf->pack == tensor->pack &&
           sameChannels(*tensor, *tensor->aliasOf))
        tensor = tensor->aliasOf;
    return tensor;
}

// Small integer tensors only: arithmetic on shapes, not on data.
bool isHostShape(const Command& command) {
    auto small = [](const Tensor* tensor) {
        return tensor->type == DataType::Int32 && tensor->elements() <= 64;
    };
    return std::all_of(command.inputs.begin(), command.inputs.end(), small) &&
           std::all_of(command.outputs.begin(), command.outputs.end(), small);
}

}  // namespace

Tensor* StageAllocator::shareStorage(Tensor* of, const Tensor& like, int pack) {
    Tensor* view = encoder_.temporary(like.shape, like.type, like.format);
    view->name = like.name;
    view->pack = pack;
    view->aliasOf = of;
    view->data = of->data;
    view->contentKnown = of->contentKnown;
    shared_.push_back(view);
    return view;
}

// The tensor in the wanted storage: itself, an earlier conversion, or a new one.
Tensor* StageAllocator::stored(Tensor* tensor, int pack) {
    if (tensor->pack == pack || !canPack(*tensor) || tensor->empty()) return tensor;
    Tensor* source = canonical(tensor);
    Tensor*& known = converted_[{source, pack}];
    if (known) return known->shape == tensor->shape ? known : shareStorage(known, *tensor, pack);
    const int blocks = std::max(pack, tensor->pack);
    if (packsToItself(*tensor, blocks)) return known = shareStorage(tensor, *tensor, pack);

    Tensor* result = encoder_.temporary(tensor->shape, tensor->type, tensor->format);
    result->name = tensor->name;
    result->pack = pack;
    Command command;
    command.name = tensor->name + "_storage";
    command.inputs = {tensor};
    command.outputs = {result};
    Region whole;
    whole.size[2] = tensor->elements();
    command.regions = {whole};
    if (tensor->contentKnown)
        encoder_.fold(command);
    else
        push(std::move(command), 0, false);
    known = result;
    converted_[{result, tensor->pack}] = tensor;
    return result;
}

// A Raster that copies everything in order costs nothing: the output becomes another view of the input.
bool StageAllocator::shareIdentity(const Command& command) {
    if (command.type != OpType::Raster || command.inputs.size() != 1) return false;
    Tensor* input = command.inputs[0];
    Tensor* output = command.outputs[0];
    if (elementBytes(input->type) != elementBytes(output->type) || input->elements() != output->elements() ||
        !isIdentity(command.regions, output->elements()))
        return false;
    if (input->pack > 1 && !sameChannels(*input, *output)) input = stored(input, 1);
    output->pack = input->pack;
    output->aliasOf = input;
    output->data = input->data;
    shared_.push_back(output);
    return true;
}

void StageAllocator::add(EncodedCommand encoded) {
    Command& command = encoded.command;
    if (shareIdentity(command)) return;
    const StorageChoice choice = feasibleStorage(*context_.backend, command);
    for (size_t i = 0; i < command.inputs.size(); ++i) {
        const bool plain = choice.wantsPlain(i);
        command.inputs[i] = stored(command.inputs[i], plain ? 1 : choice.inputPack);
    }
    for (Tensor* output : command.outputs) {
        output->pack = choice.outputPack;
        output->aliasOf = nullptr;
    }
    push(std::move(command), encoded.flops, true);
}

void StageAllocator::push(Command command, double flops, bool told) {
    Step step;
    std::string reason;
    step.execution = context_.backend->create(command, reason);
    const char* backend = context_.backend->name();
    if (!step.execution && context_.backend != context_.cpu) {
        std::string cpuReason;
        step.execution = context_.cpu->create(command, cpuReason);
        backend = context_.cpu->name();
    }
    const char* type = opTypeName(command.type);
    if (!step.execution)
        fail(Status::NoExecution, "operator %s of node '%s' has no execution: %s", type ? type : "?",
             command.name.c_str(), reason.c_str());
    step.execution->onResize();
    if (told)
        records.push_back({command.name, type ? type : "?", backend,
                           backend == context_.backend->name() ? "" : reason, flops, isHostShape(command)});
    step.command = std::move(command);
    steps.push_back(std::move(step));
}

void StageAllocator::addControl(const std::vector<Tensor*>& reads) {
    Step step;
    step.command.inputs = reads;
    steps.push_back(std::move(step));
}

void StageAllocator::finish(ChargedBuffer& arena, const std::function<bool(const Tensor*)>& staysAlive) {
    const int end = static_cast<int>(steps.size());
    std::unordered_map<Tensor*, size_t> requestOf;
    std::vector<Tensor*> owners;
    std::vector<MemoryRequest> requests;
    std::vector<std::pair<Execution*, size_t>> scratches;
    for (int i = 0; i < end; ++i) {
        Step& step = steps[static_cast<size_t>(i)];
        if (!step.execution) continue;
        for (Tensor* output : step.command.outputs) {
            if (output->data || output->empty()) continue;  // empty or placed elsewhere
            requestOf[output] = requests.size();
            owners.resize(requests.size() + 1, nullptr);
            owners[requests.size()] = output;
            requests.push_back({output->storageBytes(), i, i, 0});
        }
        if (const int64_t bytes = step.execution->scratchBytes()) {
            scratches.emplace_back(step.execution.get(), requests.size());
            requests.push_back({bytes, i, i, 0});
        }
    }
    owners.resize(requests.size(), nullptr);
    auto touch = [&](Tensor* tensor, int step) {
        const auto found = requestOf.find(rootOf(tensor));
        if (found != requestOf.end()) {
            int& last = requests[found->second].lastStep;
            last = std::max(last, step);
        }
    };
    for (int i = 0; i < end; ++i)
        for (Tensor* input : steps[static_cast<size_t>(i)].command.inputs) touch(input, i);
    for (size_t i = 0; i < requests.size(); ++i)
        if (owners[i] && staysAlive(owners[i])) requests[i].lastStep = end;
    for (Tensor* view : shared_)
        if (staysAlive(view)) touch(view, end);

    const int64_t bytes = planMemory(requests);
    if (bytes) arena.reserve(bytes, "the arena of a session");
    auto* base = static_cast<char*>(arena.data());
    for (size_t i = 0; i < requests.size(); ++i)
        if (owners[i]) owners[i]->data = base + requests[i].offset;
    for (const auto& [execution, request] : scratches)
        execution->bindScratch(base + requests[request].offset);
    for (Tensor* view : shared_) view->data = view->aliasOf->data;
    for (const Step& step : steps) {
        if (!step.execution) continue;
        for (const std::vector<Tensor*>* side : {&step.command.inputs, &step.command.outputs})
            for (const Tensor* tensor : *side)
                if (!tensor->data && !tensor->empty())
                    fail(Status::Internal, "op '%s': tensor '%s' has no memory", step.command.name.c_str(),
                         tensor->name.c_str());
    }
}

}  // namespace mnnc
