#include "session/allocator.h"

#include <algorithm>
#include <unordered_map>

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

// Where a tensor's bytes are planned: in a tensor that has storage of its own.
struct Place {
    Tensor* root;
    int64_t offset;  // bytes
};

Place placeOf(Tensor* tensor) {
    int64_t offset = 0;
    for (; tensor->aliasOf; tensor = tensor->aliasOf) offset += tensor->aliasOffset;
    return {tensor, offset};
}

Tensor* rootOf(Tensor* tensor) {
    return placeOf(tensor).root;
}

// The byte of `whole` at which a region from `part` to `whole` puts all of the part, as it is stored; -1 where it does
// not. With source and destination exchanged: the byte at which the part is a range of the whole.
int64_t placeInside(const Tensor& whole, const Tensor& part, const Region& region) {
    constexpr int64_t kAlignment = 64;
    const int64_t offset = region.dst.offset, elements = part.elements();
    if (part.type != whole.type || part.pack != whole.pack || !isLinear(region, elements) || offset < 0 ||
        offset > whole.elements() - elements)
        return -1;
    const auto bytes = static_cast<int64_t>(elementBytes(whole.type));
    const int pack = whole.pack;
    if ((pack == 1 || (packsToItself(whole, pack) && packsToItself(part, pack))) &&
        offset * bytes % kAlignment == 0)
        return offset * bytes;
    if (pack == 1) return -1;
    const int64_t plane = whole.plane(), channels = whole.shape[1];
    if (part.plane() != plane || offset % plane != 0) return -1;
    const int64_t n = offset / plane / channels, first = offset / plane % channels;
    if (first == 0 && part.shape[1] == channels) return n * roundUp(channels, pack) * plane * bytes;
    // Blocks of channels are shared with nobody.
    const int64_t end = first + part.shape[1];
    if (part.batch() != 1 || first % pack != 0 || (end % pack != 0 && end != channels)) return -1;
    return (n * roundUp(channels, pack) + first) * plane * bytes;
}

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

// A Raster that copies everything in order costs nothing: the output becomes another view of the input.
bool StageAllocator::shareIdentity(const Command& command) {
    if (command.type != OpType::Raster || command.inputs.size() != 1) return false;
    Tensor* input = command.inputs[0];
    Tensor* output = command.outputs[0];
    if (elementBytes(input->type) != elementBytes(output->type) || input->elements() != output->elements() ||
        !isIdentity(command.regions, output->elements()))
        return false;
    // On a device a value's type tells its width.
    if (input->onDevice && (input->type == DataType::Float32) != (output->type == DataType::Float32))
        return false;
    const bool toHost = input->onDevice && onHost_(output);
    if (toHost || (input->pack > 1 && !sameChannels(*input, *output)))
        input = stored(input, {1, input->onDevice && !toHost});
    output->pack = input->pack;
    output->onDevice = input->onDevice;
    output->aliasOf = input;
    output->data = input->data;
    shared_.push_back(output);
    return true;
}

// Nor does one that copies a range of its input as it is stored. A device would get every range on its own.
bool StageAllocator::shareRange(const Command& command) {
    if (context_.device || command.type != OpType::Raster || command.inputs.size() != 1 ||
        command.regions.size() != 1)
        return false;
    Tensor* input = command.inputs[0];
    Tensor* output = command.outputs[0];
    // What is read after the stage stays as it is when the caller fills the input again.
    if (onHost_(output) && rootOf(input)->data) return false;
    if (input->pack > 1 && packsToItself(*input, input->pack) &&
        !(canPackOnHost(*output) && packsToItself(*output, input->pack)))
        input = stored(input, {1, false});
    if (input->pack > 1 && !canPackOnHost(*output)) return false;
    Region reversed = command.regions[0];
    std::swap(reversed.src, reversed.dst);
    output->pack = input->pack;
    const int64_t offset = placeInside(*input, *output, reversed);
    if (offset < 0) return false;
    output->aliasOf = input;
    output->aliasOffset = offset;
    output->data = input->data ? static_cast<char*>(input->data) + offset : nullptr;
    shared_.push_back(output);
    return true;
}

void StageAllocator::add(const EncodedCommand& encoded) {
    if (shareIdentity(encoded.command) || shareRange(encoded.command)) return;
    std::string deviceReason, reason;
    if (context_.device && !isHostShape(encoded.command) &&
        place(*context_.device, encoded, deviceReason, ""))
        return;
    if (place(*context_.cpu, encoded, reason, deviceReason)) return;
    const char* type = opTypeName(encoded.command.type);
    fail(Status::NoExecution, "operator %s of node '%s' has no execution: %s", type ? type : "?",
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
    const char* type = opTypeName(command.type);
    OpCall call;
    call.record = {command.name, type ? type : "?", backend.name(),      execution->algorithm(),
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

// A Raster that puts whole tensors side by side (a concatenation) costs nothing where their makers can write into
// its output at once. The last ones first: what lies side by side there already need not be joined again.
void StageAllocator::joinInPlace() {
    std::set<const Tensor*> planned;
    for (const Step& step : steps)
        for (const Tensor* output : step.command.outputs)
            if (step.execution && !step.onDevice && !output->data && !output->block && !output->empty())
                planned.insert(output);
    std::vector<bool> joined(steps.size());
    for (size_t i = steps.size(); i-- > 0;) {
        const Step& step = steps[i];
        joined[i] = step.execution && !step.onDevice && step.command.type == OpType::Raster &&
                    join(step.command, planned);
    }
    size_t i = 0;
    std::erase_if(steps, [&](const Step&) { return joined[i++]; });
}

bool StageAllocator::join(const Command& command, const std::set<const Tensor*>& planned) {
    Tensor* output = command.outputs[0];
    if (planned.count(output) == 0 || command.regions.empty()) return false;
    struct Part {
        int64_t to, bytes;
        Place from;
    };
    std::vector<Part> parts;
    for (const Region& region : command.regions) {
        Tensor* input = command.inputs[static_cast<size_t>(region.input)];
        const int64_t to = placeInside(*output, *input, region);
        const Place from = placeOf(input);
        if (to < 0 || planned.count(from.root) == 0 || from.root == rootOf(output)) return false;
        parts.push_back({to, input->storageBytes(), from});
    }
    // Side by side, without gaps and without overlaps.
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.to < b.to; });
    int64_t end = 0;
    std::vector<Part> runs;  // parts that already lie in one place as they shall
    for (const Part& part : parts) {
        if (part.to != end) return false;
        end += part.bytes;
        if (!runs.empty() && runs.back().from.root == part.from.root &&
            runs.back().from.offset + runs.back().bytes == part.from.offset)
            runs.back().bytes += part.bytes;
        else
            runs.push_back(part);
    }
    if (end != output->storageBytes()) return false;
    std::set<const Tensor*> roots;
    const bool apart =
        std::all_of(runs.begin(), runs.end(), [&](const Part& run) {  // nobody has placed them yet
            return run.from.offset == 0 && run.from.root->storageBytes() == run.bytes &&
                   roots.insert(run.from.root).second;
        });
    if (apart) {
        for (const Part& run : runs) {
            run.from.root->aliasOf = output;
            run.from.root->aliasOffset = run.to;
            shared_.push_back(run.from.root);
        }
        return true;
    }
    if (runs.size() != 1 || output->aliasOf) return false;
    output->aliasOf = runs[0].from.root;
    output->aliasOffset = runs[0].from.offset;
    shared_.push_back(output);
    return true;
}

// Whether this output may be made where this input lies, as far as the inputs of the step tell.
bool StageAllocator::takesPlace(const Step& step, size_t output, size_t input) const {
    const uint32_t allowed = step.execution->inPlaceInputs(output);
    const auto may = [&](size_t i) { return i < 32 && ((allowed >> i) & 1u); };
    const Tensor& to = *step.command.outputs[output];
    const std::vector<Tensor*>& inputs = step.command.inputs;
    const Place from = placeOf(inputs[input]);
    if (!may(input) || inputs[input]->type != to.type || inputs[input]->pack != to.pack ||
        from.root->storageBytes() != to.storageBytes())
        return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Place other = placeOf(inputs[i]);
        if (other.root == from.root && (other.offset != 0 || !may(i))) return false;
    }
    return true;
}

// An execution that reads an input's elements where it writes its output's needs no place for the output, when
// nobody reads the input afterwards.
void StageAllocator::computeInPlace() {
    const int end = static_cast<int>(steps.size());
    std::unordered_map<const Tensor*, int> lastUse;  // of what is planned from lifetimes
    for (int i = 0; i < end; ++i) {
        const Step& step = steps[static_cast<size_t>(i)];
        if (step.execution && !step.onDevice)
            for (Tensor* output : step.command.outputs) {
                const Tensor* root = rootOf(output);
                if (!root->data && !root->block && !root->onDevice) lastUse[root] = i;
            }
        for (Tensor* input : step.command.inputs)
            if (const auto use = lastUse.find(rootOf(input)); use != lastUse.end()) use->second = i;
    }
    for (auto& [root, last] : lastUse)
        if (staysAlive_(root)) last = end;
    for (Tensor* view : shared_)
        if (const auto use = lastUse.find(rootOf(view)); use != lastUse.end() && staysAlive_(view))
            use->second = end;

    for (int i = 0; i < end; ++i) {
        const Step& step = steps[static_cast<size_t>(i)];
        if (!step.execution || step.onDevice) continue;
        std::set<const Tensor*> taken;
        for (size_t out = 0; out < step.command.outputs.size(); ++out) {
            Tensor* output = step.command.outputs[out];
            if (output->aliasOf || lastUse.count(output) == 0) continue;
            for (size_t in = 0; in < step.command.inputs.size(); ++in) {
                Tensor* root = rootOf(step.command.inputs[in]);
                const auto use = lastUse.find(root);
                if (use == lastUse.end() || use->second != i || taken.count(root) > 0 ||
                    !takesPlace(step, out, in))
                    continue;
                taken.insert(root);
                output->aliasOf = root;
                output->aliasOffset = 0;
                shared_.push_back(output);
                use->second = lastUse.at(output);
                break;
            }
        }
    }
}

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
                    !tensor->empty())
                    fail(Status::Internal, "op '%s': tensor '%s' has no memory", step.command.name.c_str(),
                         tensor->name.c_str());
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
