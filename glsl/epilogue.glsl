// The epilogue of a command (impl/ir/epilogue.h) except its residual: activation, then clamp. The includer has the
// constant kPostOps (bit 0: clamp; above it: the number of the Act), push.low and push.high.
#include "math_error.glsl"

VALUE4 activated(VALUE4 x) {
    switch (kPostOps >> 1) {
        case 0: return x;
        case 1: return x * clamp(x + 3.0, 0.0, 6.0) / 6.0;
        case 2: return EACH(siluOf, x);
        case 3: return EACH(geluOf, x);
        case 4: return EACH(sigmoidOf, x);
        case 5: return clamp(x / 6.0 + 0.5, 0.0, 1.0);
        case 6: return EACH(tanhOf, x);
        default: return EACH(geluTanhOf, x);
    }
}

VALUE4 withPostOps(VALUE4 x) {
    x = activated(x);
    return (kPostOps & 1) != 0 ? min(max(x, VALUE4(push.low)), VALUE4(push.high)) : x;
}
