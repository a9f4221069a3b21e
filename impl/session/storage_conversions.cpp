// The part of StagePlanner that brings a tensor into the storage that a command wants: packed or row-major, on the host
// or on the device. Each conversion is made once and shared.
#include <algorithm>

#include "base/error.h"
#include "session/stage_planner.h"
#include "session/storage_location.h"

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

}  // namespace

// A tensor like `of`, to be filled by a conversion.
Tensor* StagePlanner::cloneDescriptor(const Tensor& of, Storage storage) {
    Tensor* result = encoder_.temporary(of.shape, of.type, of.format);
    result->name = of.name;
    result->pack = storage.pack;
    result->onDevice = storage.onDevice;
    result->quant = of.quant;
    return result;
}

Tensor* StagePlanner::shareStorage(Tensor* of, const Tensor& like, int pack) {
    Tensor* view = cloneDescriptor(like, {pack, of->onDevice});
    view->aliasOf = of;
    view->data = of->data;
    view->hasConstantValue = of->hasConstantValue;
    shared_.push_back(view);
    return view;
}

Tensor* StagePlanner::findConverted(Tensor* source, Storage storage) const {
    if (storageOf(*source) == storage) return source;
    const auto found = converted_.find({source, storage});
    return found == converted_.end() ? nullptr : found->second;
}

Tensor* StagePlanner::findOnDevice(Tensor* source) const {
    if (source->onDevice) return source;
    for (auto it = converted_.lower_bound({source, {0, false}});
         it != converted_.end() && it->first.first == source; ++it)
        if (it->first.second.onDevice) return it->second;
    return nullptr;
}

// What the device has of the bytes that a host tensor shares with others, as this tensor sees them.
Tensor* StagePlanner::shareOnDevice(Tensor* tensor) {
    for (Tensor* other = tensor->aliasOf; other; other = other->aliasOf) {
        // On a device the type decides the width of an element.
        if ((other->type == DataType::Float32) != (tensor->type == DataType::Float32)) return nullptr;
        if (Tensor* there = findOnDevice(other)) return shareStorage(convertTo(there, {1, true}), *tensor, 1);
    }
    return nullptr;
}

// The tensor in the wanted storage: itself, an earlier conversion, or a new one.
Tensor* StagePlanner::convertTo(Tensor* tensor, Storage wanted) {
    if (tensor->empty()) return tensor;
    if (!(wanted.onDevice ? canPack(*tensor) : canPackOnHost(*tensor))) wanted.pack = 1;
    if (storageOf(*tensor) == wanted) return tensor;
    Tensor* source = canonical(tensor);
    // Views of other ranks share their conversions.
    const auto shaped = [&](Tensor* made) {
        return made->shape == tensor->shape ? made : shareStorage(made, *tensor, made->pack);
    };
    if (Tensor* made = findConverted(source, wanted)) return shaped(made);

    Tensor* result = nullptr;
    if (wanted.onDevice == tensor->onDevice) {
        if (packsToItself(*tensor, std::max(wanted.pack, tensor->pack)))
            result = shareStorage(tensor, *tensor, wanted.pack);
        else
            changePack(tensor, result = cloneDescriptor(*tensor, wanted));
    } else if (wanted.onDevice) {
        Tensor* there = findOnDevice(source);
        if (!there) there = shareOnDevice(source);
        if (there) {
            result = convertTo(there, wanted);
        } else {
            upload(convertTo(tensor, {1, false}), result = cloneDescriptor(*tensor, wanted));
        }
    } else if (wanted.pack > 1) {
        result = convertTo(convertTo(tensor, {1, false}), wanted);
    } else {
        download(tensor, result = cloneDescriptor(*tensor, wanted));
    }
    converted_[{source, wanted}] = result;
    converted_[{result, storageOf(*tensor)}] = tensor;
    return shaped(result);
}

// Two storages of one place.
void StagePlanner::changePack(Tensor* from, Tensor* to) {
    Command command;
    command.name = from->name + "_storage";
    command.inputs = {from};
    command.outputs = {to};
    Region whole;
    whole.size[2] = from->elements();
    command.regions = {whole};
    if (from->hasConstantValue && !from->onDevice) return encoder_.fold(command);
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

void StagePlanner::pushInserted(std::unique_ptr<Execution> execution, Command command, bool onDevice) {
    OpCall call;
    call.record.name = command.name;
    call.record.type = "Copy";
    call.record.backend = (onDevice ? *context_.device : *context_.cpu).name();
    call.inserted = true;
    call.inputs = command.inputs;
    call.outputs = command.outputs;
    steps.push_back({std::move(execution), std::move(command), onDevice, {std::move(call)}});
}

void StagePlanner::upload(Tensor* from, Tensor* to) {
    Tensor* staging = cloneDescriptor(*from, {1, false});
    uploads_.push_back(staging);
    pushCopy(context_.device->createUpload(*from, *staging, *to), from, to, from->hasConstantValue);
}

void StagePlanner::download(Tensor* from, Tensor* to) {
    downloads_.push_back(to);
    pushCopy(context_.device->createDownload(*from, *to), from, to, false);
}

void StagePlanner::pushCopy(std::unique_ptr<Execution> execution, Tensor* from, Tensor* to, bool once) {
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

}  // namespace mnnc
