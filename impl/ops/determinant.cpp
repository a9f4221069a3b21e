// Det: the determinants of the matrices in the last two axes.
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

void shapeDet(const ShapeContext& context) {
    const Tensor& x = context.in(0);
    const int rank = x.shape.rank();
    if (x.type != DataType::Float32)
        fail(Status::NotSupported, "op '%s': determinants of %s are not implemented", context.name(),
             dataTypeName(x.type));
    if (rank < 2 || x.shape[rank - 1] != x.shape[rank - 2])
        fail(Status::ComputeSizeError, "op '%s': square matrices are needed, the input is %s", context.name(),
             x.shape.text().c_str());
    Shape out = x.shape;
    out.erase(rank - 1);
    out.erase(rank - 2);
    context.set(0, out);
}

double detFlops(const ShapeContext& context) {
    const Shape& x = context.in(0).shape;
    return 2.0 / 3.0 * static_cast<double>(context.in(0).elements()) * static_cast<double>(x[x.rank() - 1]);
}

}  // namespace

constexpr OpDef kDeterminantOps[] = {{.type = OpType::Det, .shape = shapeDet, .flops = detFlops}};
extern constinit const OpFamily determinantOps = kDeterminantOps;

}  // namespace mnnc
