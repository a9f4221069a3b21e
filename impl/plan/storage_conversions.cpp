// Finds, shares and makes conversions between storages.
#include "plan/storage_conversions.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "plan/storage_location.h"

namespace mnnc {

namespace {

Storage storageOf(const Operand& tensor) {
    return {tensor.channelBlock, tensor.onDevice, tensor.onDevice && tensor.wide};
}

// Returns the earliest tensor with the same bytes, channels and storage.
Operand* canonical(Operand* tensor) {
    while (tensor->aliasOf && storageOf(*tensor->aliasOf) == storageOf(*tensor) &&
           tensor->aliasOf->type == tensor->type && sameChannels(*tensor, *tensor->aliasOf))
        tensor = tensor->aliasOf;
    return tensor;
}

}  // namespace

Operand* StorageConversions::describe(const Operand& of, Storage storage) {
    Operand* result = context_.temporary(of);
    static_cast<Storage&>(*result) = storage;
    result->quant = of.quant;
    result->list = of.list;
    return result;
}

Operand* StorageConversions::view(Operand* of, const Operand& like, int channelBlock) {
    Operand* made = describe(like, {channelBlock, of->onDevice, of->onDevice && of->wide});
    made->aliasOf = of;
    made->values = of->values;
    made->hasConstantValue = of->hasConstantValue;
    plan_.views.push_back(made);
    return made;
}

Operand* StorageConversions::stage(Operand* input) {
    for (const StagedTensor& mask : plan_.masks)
        if (mask.host == input) return mask.staging;
    Operand* staging = describe(*input, {1, false});
    plan_.masks.push_back({input, staging});
    return staging;
}

Operand* StorageConversions::findConverted(Operand* source, Storage storage) const {
    if (storageOf(*source) == storage) return source;
    const auto found = converted_.find({source, storage});
    return found == converted_.end() ? nullptr : found->second;
}

// Finds a copy on the device; with `wide` it must have all bits that the host has.
Operand* StorageConversions::findOnDevice(Operand* source, bool wide) const {
    if (source->onDevice) return source;
    // A tensor that came from the device has no more bits than it had there.
    if (std::find(plan_.downloads.begin(), plan_.downloads.end(), source) != plan_.downloads.end()) wide = false;
    for (auto it = converted_.lower_bound({source, {0}}); it != converted_.end() && it->first.first == source; ++it)
        if (it->first.second.onDevice && (!wide || it->first.second.wide)) return it->second;
    return nullptr;
}

// Returns a view of this tensor's shape over a device copy of the same bytes, which another host tensor may have
// caused.
Operand* StorageConversions::viewOnDevice(Operand* tensor, bool wide) {
    for (Operand* other = tensor->aliasOf; other; other = other->aliasOf) {
        // On a device the type determines the width of an element.
        if ((other->type == DataType::Float32) != (tensor->type == DataType::Float32)) return nullptr;
        if (Operand* there = findOnDevice(other, wide)) return view(convert(there, {1, true, there->wide}), *tensor, 1);
    }
    return nullptr;
}

Operand* StorageConversions::convert(Operand* tensor, Storage wanted) {
    if (tensor->empty()) return tensor;
    if (!(wanted.onDevice ? canPack(*tensor) : canPackOnHost(*tensor))) wanted.channelBlock = 1;
    if (!wanted.onDevice || tensor->type != DataType::Float32) wanted.wide = false;
    if (storageOf(*tensor) == wanted) return tensor;
    Operand* source = canonical(tensor);
    // Views of other ranks share their conversions.
    const auto shaped = [&](Operand* made) {
        return made->shape == tensor->shape ? made : view(made, *tensor, made->channelBlock);
    };
    if (Operand* made = findConverted(source, wanted)) return shaped(made);

    Operand* result = nullptr;
    if (wanted.onDevice == tensor->onDevice) {
        if (storageOf(*tensor).wide == wanted.wide &&
            packsToItself(*tensor, std::max(wanted.channelBlock, tensor->channelBlock)))
            result = view(tensor, *tensor, wanted.channelBlock);
        else
            changeStorage(tensor, result = describe(*tensor, wanted));
    } else if (wanted.onDevice) {
        Operand* there = findOnDevice(source, wanted.wide);
        if (!there) there = viewOnDevice(source, wanted.wide);
        if (there) {
            result = convert(there, wanted);
        } else {
            upload(convert(tensor, {1, false}), result = describe(*tensor, wanted));
        }
    } else if (wanted.channelBlock > 1) {
        result = convert(convert(tensor, {1, false}), wanted);
    } else {
        download(tensor, result = describe(*tensor, wanted));
    }
    converted_[{source, wanted}] = result;
    converted_[{result, storageOf(*tensor)}] = tensor;
    return shaped(result);
}

// Adds a step that changes the storage on one side, the host or the device.
void StorageConversions::changeStorage(Operand* from, Operand* to) {
    Command command;
    command.name = from->name + "_storage";
    command.inputs = {from};
    command.outputs = {to};
    Region whole;
    whole.size[2] = from->elements();
    command.regions = {whole};
    if (from->hasConstantValue && !from->onDevice) return context_.fold(command);
    std::string reason;
    std::shared_ptr<Execution> execution = context_.takeOver(command, from->onDevice);
    std::unique_ptr<Execution> made;
    if (!execution) {
        Backend& backend = context_.backendOf(from->onDevice);
        if (backend.supports(command, reason)) made = backend.create(command, reason);
        if (!made)
            fail(Status::NoExecution, "tensor '%s' cannot change its storage: %s", from->name.c_str(), reason.c_str());
        made->prepare();
    }
    if (made && !from->onDevice) execution = context_.keep(command, std::exchange(made, nullptr));
    insert(std::move(execution), std::move(made), std::move(command));
}

// Appends the step of a conversion: `execution` on the host, or `unrecorded`, which is to be recorded on the device.
void StorageConversions::insert(std::shared_ptr<Execution> execution, std::unique_ptr<Execution> unrecorded,
                                Command command) {
    const bool onDevice = unrecorded != nullptr;
    OpCall call;
    call.record.name = command.name;
    call.record.type = "Copy";
    call.record.backend = context_.backendOf(onDevice).name();
    call.inserted = true;
    call.inputs = command.inputs;
    call.outputs = command.outputs;
    plan_.steps.push_back({CommandGraph::kNone,
                           std::move(execution),
                           std::move(command),
                           onDevice,
                           {std::move(call)},
                           std::move(unrecorded)});
}

void StorageConversions::upload(Operand* from, Operand* to) {
    Operand* staging = describe(*from, {1, false});
    plan_.uploads.push_back(staging);
    if (!from->hasConstantValue) plan_.staged.push_back({from, staging});
    copy(context_.device->createUpload(*from, *staging, *to), from, to, from->hasConstantValue);
}

void StorageConversions::download(Operand* from, Operand* to) {
    plan_.downloads.push_back(to);
    copy(context_.device->createDownload(*from, *to), from, to, false);
}

void StorageConversions::copy(std::unique_ptr<Execution> execution, Operand* from, Operand* to, bool once) {
    execution->prepare();
    if (once) {
        plan_.constants.push_back(to);
        plan_.constantUploads.push_back({context_.shared(std::move(execution), true)});
        return;
    }
    Command command;
    command.name = from->name + "_copy";
    command.inputs = {from};
    command.outputs = {to};
    insert(nullptr, std::move(execution), std::move(command));
}

}  // namespace mnnc
