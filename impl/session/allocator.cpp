#include "session/allocator.h"

#include <algorithm>
#include <unordered_map>

#include "backend/fusion.h"
#include "base/error.h"
#include "session/place.h"

namespace mnnc {

namespace {

// The earliest tensor of the same bytes, channels and storage.
Tensor* canonical(Tensor* tensor) {
    while (tensor->aliasOf && tensor->aliasOf->pack == tensor->pack &&
           tensor->aliasOf->onDevice == tensor->onDevice && tensor->aliasOf->type == tensor->type &&
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

// A tensor like `of`, to be filled by a conversion.
Tensor* StageAllocator::twin(const Tensor& of, Storage storage) {
    Tensor* result = encoder_.temporary(of.shape, of.type, of.format);
    result->name = of.name;
    result->pack = storage.pack;
    result->onDevice = storage.onDevice;
    result->quant = of.quant;
    return result;
}

Tensor* StageAllocator::shareStorage(Tensor* of, const Tensor& like, int pack) {
    Tensor* view = twin(like, {pack, of->onDevice});
    view->aliasOf = of;
    view->data = of->data;
    view->contentKnown = of->contentKnown;
    shared_.push_back(view);
    return view;
}

Tensor* StageAllocator::known(Tensor* source, Storage storage) const {
    if (storageOf(*source) == storage) return source;
    const auto found = converted_.find({source, storage});
    return found == converted_.end() ? nullptr : found->second;
}

Tensor* StageAllocator::knownOnDevice(Tensor* source) const {
    if (source->onDevice) return source;
    for (auto it = converted_.lower_bound({source, {0, false}});
         it != converted_.end() && it->first.first == source; ++it)
        if (it->first.second.onDevice) return it->second;
    return nullptr;
}

// What the device has of the bytes that a host tensor shares with others, as this tensor sees them.
Tensor* StageAllocator::sharedOnDevice(Tensor* tensor) {
    for (Tensor* other = tensor->aliasOf; other; other = other->aliasOf) {
        // On a device a value's type tells its width.
        if ((other->type == DataType::Float32) != (tensor->type == DataType::Float32)) return nullptr;
        if (Tensor* there = knownOnDevice(other)) return shareStorage(stored(there, {1, true}), *tensor, 1);
    }
    return nullptr;
}

// The tensor in the wanted storage: itself, an earlier conversion, or a new one.
Tensor* StageAllocator::stored(Tensor* tensor, Storage wanted) {
    if (tensor->empty()) return tensor;
    if (!(wanted.onDevice ? canPack(*tensor) : canPackOnHost(*tensor))) wanted.pack = 1;
    if (storageOf(*tensor) == wanted) return tensor;
    Tensor* source = canonical(tensor);
    // Views of other ranks share their conversions.
    const auto shaped = [&](Tensor* made) {
        return made->shape == tensor->shape ? made : shareStorage(made, *tensor, made->pack);
    };
    if (Tensor* made = known(source, wanted)) return shaped(made);

    Tensor* result = nullptr;
    if (wanted.onDevice == tensor->onDevice) {
        if (packsToItself(*tensor, std::max(wanted.pack, tensor->pack)))
            result = shareStorage(tensor, *tensor, wanted.pack);
        else
            changePack(tensor, result = twin(*tensor, wanted));
    } else if (wanted.onDevice) {
        Tensor* there = knownOnDevice(source);
        if (!there) there = sharedOnDevice(source);
        if (there) {
            result = stored(there, wanted);
        } else {
            upload(stored(tensor, {1, false}), result = twin(*tensor, wanted));
        }
    } else if (wanted.pack > 1) {
        result = stored(stored(tensor, {1, false}), wanted);
    } else {
        download(tensor, result = twin(*tensor, wanted));
    }
    converted_[{source, wanted}] = result;
    converted_[{result, storageOf(*tensor)}] = tensor;
    return shaped(result);
}

// Two storages of one place.
void StageAllocator::changePack(Tensor* from, Tensor* to) {
    Command command;
    command.name = from->name + "_storage";
    command.inputs = {from};
    command.outputs = {to};
    Region whole;
    whole.size[2] = from->elements();
    command.regions = {whole};
    if (from->contentKnown && !from->onDevice) return encoder_.fold(command);
    Backend& backend = from->onDevice ? *context_.device : *context_.cpu;
    std::string reason;
    std::unique_ptr<Execution> execution;
    if (backend.supports(command, reason)) execution = backend.create(command, reason);
    if (!execution)
        fail(Status::NoExecution, "tensor '%s' cannot change its storage: %s", from->name.c_str(),
             reason.c_str());
    execution->onResize();
    pushInserted(std::move(execution), std::move(command), from->onDevice);
}

void StageAllocator::pushInserted(std::unique_ptr<Execution> execution, Command command, bool onDevice) {
    OpCall call;
    call.record.name = command.name;
    call.record.type = "Copy";
    call.record.backend = (onDevice ? *context_.device : *context_.cpu).name();
    call.inserted = true;
    call.inputs = command.inputs;
    call.outputs = command.outputs;
    steps.push_back({std::move(execution), std::move(command), onDevice, {std::move(call)}});
}

void StageAllocator::upload(Tensor* from, Tensor* to) {
    Tensor* staging = twin(*from, {1, false});
    uploads_.push_back(staging);
    pushCopy(context_.device->createUpload(*from, *staging, *to), from, to, from->contentKnown);
}

void StageAllocator::download(Tensor* from, Tensor* to) {
    downloads_.push_back(to);
    pushCopy(context_.device->createDownload(*from, *to), from, to, false);
}

void StageAllocator::pushCopy(std::unique_ptr<Execution> execution, Tensor* from, Tensor* to, bool once) {
    execution->onResize();
    if (once) {
        constants_.push_back(to);
        once_.push_back(std::move(execution));
        return;
    }
    Command command;
    command.name = from->name + "_copy";
    command.inputs = {from};
    command.outputs = {to};
    pushInserted(std::move(execution), std::move(command), true);
}

void StageAllocator::add(const EncodedCommand& encoded) {
    if (shareIdentity(encoded.command) || shareRange(encoded.command)) return;
    std::string deviceReason, reason;
    if (context_.device && !isHostShape(encoded.command) &&
        place(*context_.device, encoded, deviceReason, ""))
        return;
    if (place(*context_.cpu, encoded, reason, deviceReason)) return;
    fail(Status::NoExecution, "operator %s of node '%s' has no execution: %s", typeName(encoded.command),
         encoded.command.name.c_str(),
         (deviceReason.empty() ? reason : deviceReason + "; " + reason).c_str());
}

// Appends the command's step on this backend, or says why not.
bool StageAllocator::place(Backend& backend, const EncodedCommand& encoded, std::string& reason,
                           const std::string& whyNot) {
    const bool device = context_.device == &backend;
    if (!backend.supports(encoded.command, reason)) return false;
    Command command = encoded.command;
    // A backend of the host chooses by what the host has.
    for (Tensor*& input : command.inputs)
        if (!device && input->onDevice) input = stored(input, {1, false});
    // A residual may be of another shape: its elements are the output's.
    if (command.epilogue.residual && !(command.inputs.back()->shape == command.outputs[0]->shape)) {
        Tensor*& residual = command.inputs.back();
        residual = shareStorage(stored(residual, {1, device}), *command.outputs[0], 1);
    }
    const StorageChoice choice = feasibleStorage(backend, command);
    for (size_t i = 0; i < command.inputs.size(); ++i)
        command.inputs[i] = stored(command.inputs[i], {choice.wantsPlain(i) ? 1 : choice.inputPack, device});
    const Storage wanted{choice.outputPack, device};
    for (Tensor*& output : command.outputs) {
        output->aliasOf = nullptr;
        if (device && onHost_(output)) {
            output->pack = 1;
            output->onDevice = false;
            output = twin(*output, wanted);
        } else {
            output->pack = wanted.pack;
            output->onDevice = device;
        }
    }
    std::unique_ptr<Execution> execution = backend.create(command, reason);
    if (!execution) return false;
    try {
        execution->onResize();
    } catch (const Error& error) {
        // What a driver refuses to build is left to the CPU; no memory or no device is an error.
        if (!device || (error.status() != Status::DriverError && error.status() != Status::NotSupported))
            throw;
        reason = error.message();
        return false;
    }
    OpCall call;
    call.record = {command.name, typeName(command), backend.name(),      execution->algorithm(),
                   whyNot,       encoded.flops,     isHostShape(command)};
    call.inputs = command.inputs;
    call.outputs = command.outputs;
    steps.push_back({std::move(execution), command, device, {std::move(call)}});
    for (size_t i = 0; i < command.outputs.size(); ++i) {
        Tensor* output = encoded.command.outputs[i];
        if (command.outputs[i] == output || output->empty()) continue;
        converted_[{output, wanted}] = command.outputs[i];
        download(command.outputs[i], output);
    }
    return true;
}

void StageAllocator::addControl(const std::vector<Tensor*>& reads) {
    Step step;
    step.command.inputs = reads;
    steps.push_back(std::move(step));
}

// One of the two memories that are planned from lifetimes.
struct StageAllocator::Arena {
    std::vector<MemoryRequest> requests;
    std::vector<Tensor*> tensors;        // [request], null for scratch
    std::vector<Execution*> executions;  // [request], null for tensors
    void add(int64_t bytes, int step, Tensor* tensor, Execution* execution) {
        requests.push_back({bytes, step, step, 0});
        tensors.push_back(tensor);
        executions.push_back(execution);
    }
};

void StageAllocator::finish() {
    joinInPlace();
    bindFixed(uploads_, memory_.uploads, "memory for copies to the device");
    bindFixed(downloads_, memory_.downloads, "memory for copies from the device");
    bindFixed(constants_, memory_.constants, "constants on the device");
    computeInPlace();

    const int end = static_cast<int>(steps.size());
    Arena arenas[2];  // host, device
    std::unordered_map<const Tensor*, size_t> requestOf;
    for (int i = 0; i < end; ++i) {
        Step& step = steps[static_cast<size_t>(i)];
        if (!step.execution) continue;
        Arena& arena = arenas[step.onDevice];
        for (Tensor* output : step.command.outputs) {
            Tensor* root = rootOf(output);
            if (root->data || root->block || root->empty()) continue;  // empty or placed elsewhere
            if (!requestOf.emplace(root, arena.requests.size()).second) continue;
            arena.add(root->onDevice ? context_.device->storageBytes(*root) : root->storageBytes(), i, root,
                      nullptr);
        }
        if (const int64_t bytes = step.execution->scratchBytes())
            arena.add(bytes, i, nullptr, step.execution.get());
    }
    auto touch = [&](Tensor* tensor, int step) {
        const Tensor* root = rootOf(tensor);
        const auto found = requestOf.find(root);
        if (found == requestOf.end()) return;
        int& last = arenas[root->onDevice].requests[found->second].lastStep;
        last = std::max(last, step);
    };
    for (int i = 0; i < end; ++i)
        for (Tensor* input : steps[static_cast<size_t>(i)].command.inputs) touch(input, i);
    for (const Arena& arena : arenas)
        for (Tensor* tensor : arena.tensors)
            if (tensor && staysAlive_(tensor)) touch(tensor, end);
    for (Tensor* view : shared_)
        if (staysAlive_(view)) touch(view, end);

    if (const int64_t bytes = planMemory(arenas[0].requests))
        memory_.arena.reserve(bytes, "the arena of a session");
    auto* base = static_cast<char*>(memory_.arena.data());
    for (size_t i = 0; i < arenas[0].requests.size(); ++i) {
        void* memory = base + arenas[0].requests[i].offset;
        if (Tensor* tensor = arenas[0].tensors[i])
            tensor->data = memory;
        else
            arenas[0].executions[i]->bindScratch(memory);
    }
    if (!arenas[1].requests.empty()) {
        const int64_t bytes =
            planMemory(arenas[1].requests, std::max<int64_t>(64, context_.device->alignment()));
        DeviceBlock* block = memory_.device.reserve(bytes, "the arena of a session on the device");
        for (size_t i = 0; i < arenas[1].requests.size(); ++i) {
            const int64_t offset = arenas[1].requests[i].offset;
            if (Tensor* tensor = arenas[1].tensors[i]) {
                tensor->block = block;
                tensor->blockOffset = offset;
            } else {
                arenas[1].executions[i]->bindScratch(block, offset);
            }
        }
    }
    for (Tensor* view : shared_) {
        const Place place = placeOf(view);
        view->aliasOf = place.root;  // so that a long chain of views is walked once
        view->aliasOffset = place.offset;
        view->data = place.root->data ? static_cast<char*>(place.root->data) + place.offset : nullptr;
        view->block = place.root->block;
        view->blockOffset = place.root->blockOffset + place.offset;
    }
    for (const Step& step : steps) {
        if (!step.execution) continue;
        for (const std::vector<Tensor*>* side : {&step.command.inputs, &step.command.outputs})
            for (const Tensor* tensor : *side)
                if (!(tensor->onDevice ? static_cast<void*>(tensor->block) : tensor->data) &&
                    !tensor->stored && !tensor->empty())
                    // A damaged graph: an input of it that an operator makes as well.
                    fail(Status::BadFormat,
                         "op '%s': tensor '%s' has no value there: the graph makes it twice",
                         step.command.name.c_str(), tensor->name.c_str());
    }
    record();
}

// Memory that lives as long as the plan, one range per tensor.
void StageAllocator::bindFixed(const std::vector<Tensor*>& tensors, ChargedBlock& memory, const char* what) {
    if (tensors.empty()) return;
    const int64_t alignment = std::max<int64_t>(64, context_.device->alignment());
    int64_t bytes = 0;
    for (Tensor* tensor : tensors) {
        tensor->blockOffset = bytes;
        const int64_t size =
            tensor->onDevice ? context_.device->storageBytes(*tensor) : tensor->storageBytes();
        bytes = checkedAdd(bytes, roundUp(checkedAdd(size, 64, what), alignment), what);
    }
    DeviceBlock* block = memory.reserve(bytes, what);
    for (Tensor* tensor : tensors) {
        tensor->block = block;
        if (!tensor->onDevice) tensor->data = static_cast<char*>(block->host()) + tensor->blockOffset;
    }
}

// Constants go to the device now; each maximal run of device steps becomes one step. The host's part of an
// upload comes before its run: what the run itself downloads can only be uploaded in a later one.
void StageAllocator::record() {
    if (!context_.device) return;
    if (!once_.empty()) context_.device->record(std::move(once_))->onExecute();
    std::vector<Step> grouped;
    for (size_t i = 0; i < steps.size();) {
        if (!steps[i].onDevice) {
            grouped.push_back(std::move(steps[i++]));
            continue;
        }
        std::vector<std::unique_ptr<Execution>> run;
        std::vector<OpCall> calls;
        std::set<const Tensor*> downloaded;
        for (; i < steps.size() && steps[i].onDevice; ++i) {
            const Command& command = steps[i].command;
            if (std::any_of(command.inputs.begin(), command.inputs.end(),
                            [&](Tensor* input) { return downloaded.count(rootOf(input)) > 0; }))
                break;
            for (const Tensor* output : command.outputs)
                if (!output->onDevice) downloaded.insert(output);
            run.push_back(std::move(steps[i].execution));
            std::move(steps[i].calls.begin(), steps[i].calls.end(), std::back_inserter(calls));
        }
        grouped.push_back({context_.device->record(std::move(run)), {}, true, std::move(calls)});
    }
    steps = std::move(grouped);
}

}  // namespace mnnc
