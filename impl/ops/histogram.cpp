// Histogram: counts the elements in bins of equal width (as numpy.histogram).
#include "ops/histogram.h"

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

// The table is that of ArgMax with other meanings of its fields.
ParamsPtr parseHistogram(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::ArgMax* table = op.main_as_ArgMax();
    if (!table) fail(Status::BadParameter, "op '%s' carries no ArgMax table", name);
    auto params = std::make_shared<HistogramParams>();
    params->bins = table->outMaxVal();
    params->low = table->softmaxThreshold();
    params->high = table->topK();
    params->channel = table->axis();
    if (params->bins < 1)
        fail(Status::BadParameter, "op '%s': the histogram has %lld bins, at least 1 is needed", name,
             asLong(params->bins));
    if (params->low > params->high)
        fail(Status::BadParameter, "op '%s': the histogram begins at %d and ends at %d, an ascending range is needed",
             name, table->softmaxThreshold(), table->topK());
    // numpy.histogram does the same.
    if (params->low == params->high) {
        params->low -= 0.5;
        params->high += 0.5;
    }
    return params;
}

void shapeHistogram(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<HistogramParams>();
    const Tensor& x = context.in(0);
    if (x.type != DataType::Float32 && x.type != DataType::Int32 && x.type != DataType::UInt8)
        fail(Status::NotSupported, "op '%s': a histogram of %s is not implemented", context.name(),
             dataTypeName(x.type));
    const int rank = x.shape.rank();
    if (params.channel >= 0 && (rank < 1 || params.channel >= x.shape[rank - 1]))
        fail(Status::ComputeSizeError, "op '%s': channel %lld is outside of the input %s", context.name(),
             asLong(params.channel), x.shape.text().c_str());
    context.set(0, Shape{params.bins}, DataType::Float32, Format::NCHW);
}

void geometryHistogram(const OpContext& context) {
    auto params = std::make_shared<HistogramParams>(context.node.paramsAs<HistogramParams>());
    if (params->channel >= 0) {
        const Shape& x = context.in(0).shape;
        params->first = params->channel;
        params->step = x[x.rank() - 1];
    }
    ValueCommand command = context.command();
    command.params = std::move(params);
    context.geometry.emit(std::move(command));
}

}  // namespace

constexpr OpDef kHistogramOps[] = {{.type = OpType::Histogram,
                                    .parse = parseHistogram,
                                    .shape = shapeHistogram,
                                    .geometry = geometryHistogram,
                                    .flops = flopsPerInput<3>}};
extern constinit const OpFamily histogramOps = kHistogramOps;

}  // namespace mnnc
