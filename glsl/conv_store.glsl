// The end of every convolution: bias, residual, activation, clamp (Epilogue in impl/ops/epilogue.h). The includer has
// the constant kFinish (bit 0: clamp; above it: the number of the Act), push.low, push.high, and RESIDUAL, the binding that
// the variant ADD has for a tensor stored as the output is.
#include "math.glsl"
#ifdef ADD
layout(binding = RESIDUAL) readonly buffer Residual { ELEM4 residual[]; };
#endif

VALUE4 activated(VALUE4 x) {
    switch (kFinish >> 1) {
        case 0: return x;
        case 1: return x * clamp(x + 3.0, 0.0, 6.0) / 6.0;
        case 2: return EACH(siluOf, x);
        case 3: return EACH(geluOf, x);
        case 4: return EACH(sigmoidOf, x);
        case 5: return clamp(x / 6.0 + 0.5, 0.0, 1.0);
        default: return EACH(tanhOf, x);
    }
}

// at: the quad of the output.
VALUE4 finished(VALUE4 sum, VALUE4 bias, uint at) {
    sum += bias;
#ifdef ADD
    sum += VALUE4(residual[at]);
#endif
    sum = activated(sum);
    return (kFinish & 1) != 0 ? min(max(sum, VALUE4(push.low)), VALUE4(push.high)) : sum;
}
