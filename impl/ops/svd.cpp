// Svd: the singular values of a matrix, descending, and its singular vectors: x = u diag(w) vt.
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

// A matrix r x c gives w of c values, u of r x c and vt of c x c. Beyond min(r, c), values and columns of u are 0.
void shapeSvd(const ShapeContext& context) {
    const Tensor& x = context.in(0);
    if (x.type != DataType::Float32)
        fail(Status::NotSupported, "op '%s': singular values of %s are not implemented", context.name(),
             dataTypeName(x.type));
    if (x.shape.rank() != 2)
        fail(Status::ComputeSizeError, "op '%s': a matrix is needed, the input is %s", context.name(),
             x.shape.text().c_str());
    const Shape vt{x.shape[1], x.shape[1]};
    vt.elements();
    context.set(0, Shape{x.shape[1]});
    context.set(1, x.shape);
    context.set(2, vt);
}

// Returns an upper estimate: ten sweeps of one-sided Jacobi rotations over all pairs of columns.
double svdFlops(const ShapeContext& context) {
    const auto rows = static_cast<double>(context.in(0).shape[0]);
    const auto columns = static_cast<double>(context.in(0).shape[1]);
    return 10 * columns * columns * (6 * rows + 3 * columns);
}

}  // namespace

constexpr OpDef kSvdOps[] = {{.type = OpType::Svd, .shape = shapeSvd, .flops = svdFlops}};
extern constinit const OpFamily svdOps = kSvdOps;

}  // namespace mnnc
