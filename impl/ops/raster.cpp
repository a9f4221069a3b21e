// ConvertTensor and the explicit Raster operator: their extents and regions.
#include <algorithm>

#include "base/checked.h"
#include "mnn_generated.h"
#include "model/model.h"
#include "model/wire_access.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_check.h"

namespace mnnc {

namespace {

struct ConvertParams : ParamsOf<ConvertParams> {
    Format dest = Format::NCHW;
};

ParamsPtr parseConvert(const wire::Op& op, const ParseContext& context) {
    const wire::TensorConvertInfo* table = op.main_as_TensorConvertInfo();
    if (!table) fail(Status::BadParameter, "op '%s' carries no TensorConvertInfo table", context.node.name.c_str());
    auto params = std::make_shared<ConvertParams>();
    const int dest = static_cast<int>(table->dest());
    if (dest < 0 || dest > 2)
        fail(Status::BadParameter, "op '%s': %d is not a format to convert to", context.node.name.c_str(), dest);
    params->dest = static_cast<Format>(dest);
    return params;
}

bool channelFirst(Format format) {
    return format != Format::NHWC;
}

// The extents move with the channel; tensors of rank 2 and below keep them.
void shapeConvert(const ShapeContext& context) {
    const Tensor& input = context.in(0);
    const Format dest = context.node.paramsAs<ConvertParams>().dest;
    Shape shape = input.shape;
    const int rank = shape.rank();
    if (rank > 2 && channelFirst(input.format) != channelFirst(dest)) {
        const bool toLast = channelFirst(input.format);
        const int64_t channel = shape[toLast ? 1 : rank - 1];
        shape.erase(toLast ? 1 : rank - 1);
        shape.insert(toLast ? rank - 1 : 1, channel);
    }
    context.set(0, shape, input.type, dest);
    if (input.type == DataType::Int8 && !context.out(0).quant.known()) context.out(0).quant = input.quant;
}

// Only data of rank 4 is transposed; other ranks keep their linear order, as files of the official converter expect.
void geometryConvert(const OpContext& context) {
    const Tensor& input = context.in(0);
    const Format dest = context.node.paramsAs<ConvertParams>().dest;
    if (input.shape.rank() != 4 || channelFirst(input.format) == channelFirst(dest)) {
        context.geometry.copyLinear(context.outputs[0], context.inputs[0], context.node.name);
        return;
    }
    const int64_t batch = input.batch(), channel = input.channel(), area = input.height() * input.width();
    Region region;
    region.size[0] = batch;
    region.size[1] = area;
    region.size[2] = channel;
    View first{0, {channel * area, 1, area}};    // channel-first side
    View last{0, {channel * area, channel, 1}};  // channel-last side
    region.src = channelFirst(input.format) ? first : last;
    region.dst = channelFirst(input.format) ? last : first;
    context.geometry.raster(context.outputs[0], {context.inputs[0]}, {region}, context.node.name);
}

struct RasterParams : ParamsOf<RasterParams> {
    bool described = false;  // has an Extra table with shape and regions
    bool ofStaticModel = false;
    Shape shape;
    bool typed = false;
    DataType type = DataType::Float32;
    bool hasFormat = false;
    Format format = Format::NCHW;
    std::vector<Region> regions;  // one per input
    bool keepsRest = false;       // the last input, which has no region, holds the former output
};

// Returns the type for the element code and width of an explicit Raster.
DataType rasterType(int code, int bits, const char* name) {
    if (code == 2 && bits == 32) return DataType::Float32;
    if (code == 0 && bits == 32) return DataType::Int32;
    if (code == 0 && bits == 8) return DataType::Int8;
    if (code == 1 && bits == 8) return DataType::UInt8;
    if (code == 0 && bits == 16) return DataType::Int16;
    if (code == 1 && bits == 16) return DataType::UInt16;
    fail(Status::BadParameter, "op '%s': element code %d with %d bits is not known", name, code, bits);
}

// The file of a static model describes each output with its regions: one for each input, in the order of the inputs.
void readDescription(RasterParams& params, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::TensorDescribe* describe = context.graph->describe(context.node.outputs[0]);
    if (!describe || !describe->blob())
        fail(Status::BadFormat, "op '%s': the static model does not describe its output", name);
    const wire::Blob& blob = *describe->blob();
    params.described = params.ofStaticModel = params.typed = params.hasFormat = true;
    // The shape is part of the file, so a wrong one is BadFormat and not the error of a shape rule.
    if (blob.dims()) params.shape = checkedShape({blob.dims()->begin(), blob.dims()->end()}, name, Status::BadFormat);
    params.type = dataTypeFromWire(static_cast<int32_t>(blob.dataType()), name);
    const int format = static_cast<int>(blob.dataFormat());
    if (format < 0 || format > 2) fail(Status::BadParameter, "op '%s': format %d is not known", name, format);
    params.format = static_cast<Format>(format);
    const int64_t count = vectorSize(describe->regions());
    if (count != static_cast<int64_t>(context.node.inputs.size()))
        fail(Status::BadParameter, "op '%s' has %lld regions for %zu inputs, one for each is needed", name,
             asLong(count), context.node.inputs.size());
    for (uint32_t r = 0; r < static_cast<uint32_t>(count); ++r) {
        const wire::Region& from = *describe->regions()->Get(r);
        Region region;
        region.input = static_cast<int>(r);
        region.src.offset = from.src()->offset();
        region.dst.offset = from.dst()->offset();
        for (uint32_t i = 0; i < 3; ++i) {
            region.size[i] = from.size()->Get(i);
            region.src.stride[i] = from.src()->stride()->Get(i);
            region.dst.stride[i] = from.dst()->stride()->Get(i);
        }
        params.regions.push_back(region);
    }
}

ParamsPtr parseRaster(const wire::Op& op, const ParseContext& context) {
    auto params = std::make_shared<RasterParams>();
    const wire::Extra* table = op.main_as_Extra();
    const char* name = context.node.name.c_str();
    if (context.graph) {
        readDescription(*params, context);
        return params;
    }
    if (!table || !table->attr()) return params;
    params->described = true;
    int code = -1, bits = 32;
    for (const wire::Attribute* attribute : *table->attr()) {
        const std::string key = attribute->key()->str();
        const auto* list = attribute->list() ? attribute->list()->i() : nullptr;
        if (key == "shape" && list) {
            params->shape = Shape(std::span<const int32_t>(list->data(), list->size()));
        } else if (key == "code") {
            code = attribute->i();
        } else if (key == "bits") {
            bits = attribute->i();
        } else if (key == "format") {
            if (attribute->i() < 0 || attribute->i() > 2)
                fail(Status::BadParameter, "op '%s': format %d is not known", name, attribute->i());
            params->hasFormat = true;
            params->format = static_cast<Format>(attribute->i());
        } else if (key == "region" && list) {
            if (list->size() % 11 != 0)
                fail(Status::BadParameter, "op '%s': a region list of %u numbers is not a multiple of 11", name,
                     list->size());
            for (uint32_t at = 0; at < list->size(); at += 11) {
                const int32_t* v = list->data() + at;
                Region region;
                region.input = static_cast<int>(at / 11);
                region.src = {v[0], {v[1], v[2], v[3]}};
                region.dst = {v[4], {v[5], v[6], v[7]}};
                for (int i = 0; i < 3; ++i) region.size[i] = v[8 + i];
                params->regions.push_back(region);
            }
        }
    }
    if (code >= 0) {
        params->typed = true;
        params->type = rasterType(code, bits, name);
    }
    if (!params->regions.empty() && params->regions.size() != context.node.inputs.size())
        fail(Status::BadParameter, "op '%s' has %zu regions for %zu inputs, one for each is needed", name,
             params->regions.size(), context.node.inputs.size());
    return params;
}

// The former tensor becomes one more input, over which the regions are written.
bool keepRestOfRaster(Node& node, std::span<const EarlierOutput> outputs) {
    const auto* old = node.paramsIf<RasterParams>();
    if (!old || !old->described) return false;  // without a description a Raster copies whole inputs
    auto params = std::make_shared<RasterParams>(*old);
    params->keepsRest = true;
    node.inputs.push_back(outputs.back().tensor);
    node.params = std::move(params);
    return true;
}

bool oneType(const ShapeContext& context) {
    for (int i = 1; i < context.inputCount(); ++i)
        if (context.in(i).type != context.in(0).type) return false;
    return context.inputCount() > 0;
}

void shapeRaster(const ShapeContext& context) {
    const auto* params = context.node.paramsIf<RasterParams>();
    if (context.inputCount() == 0 && (!params->described || !params->typed || !params->hasFormat))
        fail(Status::ComputeSizeError, "op '%s' has neither inputs nor a shape, type and format", context.name());
    if (!params->described) {
        context.set(0, context.in(0).shape);
        return;
    }
    DataType type = params->typed ? params->type : context.in(0).type;
    // Static models declare operands of a comparison with the type of its result.
    if (params->ofStaticModel && oneType(context)) type = context.in(0).type;
    context.set(0, params->shape, type, params->hasFormat ? params->format : context.in(0).format);
}

// For a slice with steps over several batches, the converter repeats regions beyond the end of the output. They are
// dropped where the others fill the output; otherwise the file is damaged.
void dropSuperfluous(std::vector<Region>& regions, int64_t elements, const char* name) {
    std::vector<Region> needed;
    int64_t written = 0;
    for (const Region& region : regions) {
        const int64_t count = checkedMul(checkedMul(region.size[0], region.size[1], name), region.size[2], name);
        if (count == 0 || writesNothing(region, elements, name)) continue;
        written = checkedAdd(written, count, name);
        needed.push_back(region);
    }
    if (written >= elements) regions = std::move(needed);
}

// Regions with strides of 0 may visit a small tensor very often: a small file could describe hours of copies, which no
// limit on memory would refuse.
void limitVisits(const std::vector<Region>& regions, const OpContext& context) {
    constexpr double kFreeVisits = 1 << 26, kVisitsOfElement = 1 << 10;
    double visits = 0;
    for (const Region& region : regions) visits += static_cast<double>(region.count());
    auto elements = static_cast<double>(context.out(0).elements());
    for (const Tensor* input : context.inputs) elements += static_cast<double>(input->elements());
    if (visits > kFreeVisits + kVisitsOfElement * elements)
        fail(Status::LimitExceeded, "op '%s': its regions copy %.0f elements of tensors that have %.0f", context.name(),
             visits, elements);
}

void geometryRaster(const OpContext& context) {
    const auto* params = context.node.paramsIf<RasterParams>();
    std::vector<Region> regions = params->regions;
    const int inputs = context.inputCount() - (params->keepsRest ? 1 : 0);
    if (regions.empty())
        for (int i = 0; i < inputs; ++i) {
            Region one;
            one.input = i;
            if (!params->described) one.size[2] = context.in(0).elements();
            regions.push_back(one);
        }
    if (params->ofStaticModel) dropSuperfluous(regions, context.out(0).elements(), context.name());
    if (params->keepsRest) {
        Region before;
        before.input = inputs;
        before.size[2] = context.out(0).elements();
        regions.insert(regions.begin(), before);
    }
    // The code below computes with the regions and assumes that they are valid. For a region without elements only the
    // sizes have been checked.
    for (const Region& region : regions)
        checkRegion(region, context.in(region.input).elements(), context.out(0).elements(), context.name());
    std::erase_if(regions, [](const Region& region) { return region.count() == 0; });
    limitVisits(regions, context);
    context.geometry.raster(context.outputs[0], {context.inputs.begin(), context.inputs.end()}, std::move(regions),
                            context.node.name);
}

}  // namespace

constexpr OpDef kRasterOps[] = {
    {.type = OpType::ConvertTensor, .parse = parseConvert, .shape = shapeConvert, .geometry = geometryConvert},
    {.type = OpType::Raster,
     .parse = parseRaster,
     .shape = shapeRaster,
     .geometry = geometryRaster,
     .keepRest = keepRestOfRaster},
};
extern constinit const OpFamily rasterOps = kRasterOps;

}  // namespace mnnc
