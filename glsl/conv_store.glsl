// The end of every convolution: bias, residual, activation, clamp. The includer defines the names that epilogue.glsl
// needs, and RESIDUAL, the binding that the variant ADD has for a tensor with the storage of the output.
#include "epilogue.glsl"
#ifdef ADD
layout(binding = RESIDUAL) readonly buffer Residual { ELEM4 residual[]; };
#endif

// at: the quad of the output.
VALUE4 convResult(VALUE4 sum, VALUE4 bias, uint at) {
    sum += bias;
#ifdef ADD
    sum += VALUE4(residual[at]);
#endif
    return withPostOps(sum);
}
