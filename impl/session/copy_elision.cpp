// The part of StagePlanner that saves copies and memory: outputs that are views of inputs, inputs that are made
// inside of an output, outputs in the memory of an input without a later consumer.
#include <algorithm>
#include <unordered_map>

#include "session/stage_planner.h"
#include "session/storage_location.h"
#include "tensor/region_check.h"

namespace mnnc {

namespace {

// The byte of `whole` at which a region from `part` to `whole` puts all of the part, as it is stored; -1 where it does
// not. With source and destination exchanged: the byte at which the part is a range of the whole.
int64_t subrangeOffset(const Tensor& whole, const Tensor& part, const Region& region) {
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
    // A block of channels belongs to one tensor alone.
    const int64_t end = first + part.shape[1];
    if (part.batch() != 1 || first % pack != 0 || (end % pack != 0 && end != channels)) return -1;
    return (n * roundUp(channels, pack) + first) * plane * bytes;
}

}  // namespace

// A Raster that copies everything in order costs nothing: the output becomes another view of the input.
bool StagePlanner::shareIdentity(const Command& command) {
    if (command.type != OpType::Raster || command.inputs.size() != 1) return false;
    Tensor* input = command.inputs[0];
    Tensor* output = command.outputs[0];
    if (elementBytes(input->type) != elementBytes(output->type) || input->elements() != output->elements() ||
        !isIdentity(command.regions, output->elements()))
        return false;
    // On a device the type decides the width of an element.
    if (input->onDevice && (input->type == DataType::Float32) != (output->type == DataType::Float32))
        return false;
    const bool toHost = input->onDevice && onHost_(output);
    if (toHost || (input->pack > 1 && !sameChannels(*input, *output)))
        input = convertTo(input, {1, input->onDevice && !toHost});
    output->pack = input->pack;
    output->onDevice = input->onDevice;
    output->aliasOf = input;
    output->data = input->data;
    shared_.push_back(output);
    return true;
}

// A contiguous slice becomes a view. On the host only: on a device each view would need an upload of its own.
bool StagePlanner::shareRange(const Command& command) {
    if (context_.device || command.type != OpType::Raster || command.inputs.size() != 1 ||
        command.regions.size() != 1)
        return false;
    Tensor* input = command.inputs[0];
    Tensor* output = command.outputs[0];
    // What is read after the stage stays as it is when the caller fills the input again.
    if (onHost_(output) && rootOf(input)->data) return false;
    if (input->pack > 1 && packsToItself(*input, input->pack) &&
        !(canPackOnHost(*output) && packsToItself(*output, input->pack)))
        input = convertTo(input, {1, false});
    if (input->pack > 1 && !canPackOnHost(*output)) return false;
    Region reversed = command.regions[0];
    std::swap(reversed.src, reversed.dst);
    output->pack = input->pack;
    const int64_t offset = subrangeOffset(*input, *output, reversed);
    if (offset < 0) return false;
    output->aliasOf = input;
    output->aliasOffset = offset;
    output->data = input->data ? static_cast<char*>(input->data) + offset : nullptr;
    shared_.push_back(output);
    return true;
}

// A Raster that puts whole tensors side by side (a concatenation) costs nothing where their producers can write into
// its output. Visits Rasters in reverse, so that nested concatenations are merged into the outermost one.
void StagePlanner::concatInPlace() {
    std::set<const Tensor*> planned;
    for (const Step& step : steps)
        for (const Tensor* output : step.command.outputs)
            if (step.execution && !step.onDevice && !output->data && !output->block && !output->empty())
                planned.insert(output);
    std::vector<bool> joined(steps.size());
    for (size_t i = steps.size(); i-- > 0;) {
        const Step& step = steps[i];
        joined[i] = step.execution && !step.onDevice && step.command.type == OpType::Raster &&
                    concatInto(step.command, planned);
    }
    size_t i = 0;
    std::erase_if(steps, [&](const Step&) { return joined[i++]; });
}

bool StagePlanner::concatInto(const Command& command, const std::set<const Tensor*>& planned) {
    Tensor* output = command.outputs[0];
    if (planned.count(output) == 0 || command.regions.empty()) return false;
    struct Part {
        int64_t to, bytes;
        StorageLocation from;
    };
    std::vector<Part> parts;
    for (const Region& region : command.regions) {
        Tensor* input = command.inputs[static_cast<size_t>(region.input)];
        const int64_t to = subrangeOffset(*output, *input, region);
        const StorageLocation from = storageLocation(input);
        if (to < 0 || planned.count(from.root) == 0 || from.root == rootOf(output)) return false;
        parts.push_back({to, input->storageBytes(), from});
    }
    // Side by side, without gaps and without overlaps.
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.to < b.to; });
    int64_t end = 0;
    std::vector<Part> runs;  // parts that lie side by side in one tensor already
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
        std::all_of(runs.begin(), runs.end(), [&](const Part& run) {  // no storage is chosen for them yet
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
bool StagePlanner::canRunInPlace(const Step& step, size_t output, size_t input) const {
    const uint32_t allowed = step.execution->inPlaceInputs(output);
    const auto may = [&](size_t i) { return i < 32 && ((allowed >> i) & 1u); };
    const Tensor& to = *step.command.outputs[output];
    const std::vector<Tensor*>& inputs = step.command.inputs;
    const StorageLocation from = storageLocation(inputs[input]);
    if (!may(input) || inputs[input]->type != to.type || inputs[input]->pack != to.pack ||
        from.root->storageBytes() != to.storageBytes())
        return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const StorageLocation other = storageLocation(inputs[i]);
        if (other.root == from.root && (other.offset != 0 || !may(i))) return false;
    }
    return true;
}

// An execution that reads an input's elements where it writes its output's needs no memory for the output, when
// the input has no later consumer.
void StagePlanner::computeInPlace() {
    const int end = static_cast<int>(steps.size());
    std::unordered_map<const Tensor*, int> lastUse;  // of tensors in the arena
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
                    !canRunInPlace(step, out, in))
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

}  // namespace mnnc
