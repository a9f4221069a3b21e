// The end of every convolution: bias, residual, activation, clamp. The includer has what epilogue.glsl asks for, and
// RESIDUAL, the binding that the variant ADD has for a tensor stored as the output is.
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
