// variants: f32 f16
// The pattern ElementwiseChain: operators that feed one another, over whole quads of one storage. The steps are
// specialisation constants, so that a driver that unrolls the loop keeps every value in a register.
#version 440
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"

// The limits are those of elementwise_chain.cpp.
const uint kInputs = 5, kLiterals = 28, kMaxSteps = 14, kNone = 255, kBinary = 64;
layout(constant_id = 1) const uint kTensors = 0;  // inputs that are read
layout(constant_id = 2) const uint kSingles = 0;  // bit i: input i is one value
// The codes that occur, as bits. A driver drops the others before it unrolls.
layout(constant_id = 3) const uint kUnaryCodes0 = 0;
layout(constant_id = 4) const uint kUnaryCodes1 = 0;
layout(constant_id = 5) const uint kBinaryCodes = 0;
// The steps whose results are the outputs.
layout(constant_id = 6) const uint kResult0 = 0;
layout(constant_id = 7) const uint kResult1 = kNone;
layout(constant_id = 8) const uint kResult2 = kNone;
// A step: code (for a binary operator: after kBinary) | ReLU << 7 | operand << 8 | second operand or literals << 16.
layout(constant_id = 9) const uint kSteps = 0;
layout(constant_id = 10) const uint kStep0 = 0;
layout(constant_id = 11) const uint kStep1 = 0;
layout(constant_id = 12) const uint kStep2 = 0;
layout(constant_id = 13) const uint kStep3 = 0;
layout(constant_id = 14) const uint kStep4 = 0;
layout(constant_id = 15) const uint kStep5 = 0;
layout(constant_id = 16) const uint kStep6 = 0;
layout(constant_id = 17) const uint kStep7 = 0;
layout(constant_id = 18) const uint kStep8 = 0;
layout(constant_id = 19) const uint kStep9 = 0;
layout(constant_id = 20) const uint kStep10 = 0;
layout(constant_id = 21) const uint kStep11 = 0;
layout(constant_id = 22) const uint kStep12 = 0;
layout(constant_id = 23) const uint kStep13 = 0;

#define USES_UNARY(code) (((code < 32 ? kUnaryCodes0 : kUnaryCodes1) >> (code & 31) & 1) != 0)
#define USES_BINARY(code) ((kBinaryCodes >> code & 1) != 0)
#include "unary.glsl"
#include "binary_float.glsl"

PUSH(uint quads; float literals[kLiterals];);
layout(binding = 0) readonly buffer Quads0 { ELEM4 quads0[]; };
layout(binding = 1) readonly buffer Quads1 { ELEM4 quads1[]; };
layout(binding = 2) readonly buffer Quads2 { ELEM4 quads2[]; };
layout(binding = 3) readonly buffer Quads3 { ELEM4 quads3[]; };
layout(binding = 4) readonly buffer Quads4 { ELEM4 quads4[]; };
layout(binding = 5) writeonly buffer Out0 { ELEM4 out0[]; };
layout(binding = 6) writeonly buffer Out1 { ELEM4 out1[]; };
layout(binding = 7) writeonly buffer Out2 { ELEM4 out2[]; };

// The numbers of operands count the literals first, then inputs, then the results of the steps.
vec4 values[kInputs + kMaxSteps];
vec4 operand(uint number) {
    return number < kLiterals ? vec4(push.literals[number]) : values[number - kLiterals];
}

#define LOAD(n, quads)                                                                            \
    if (n < kTensors) {                                                                           \
        const bool single = (kSingles >> n & 1) != 0;                                             \
        const vec4 quad = vec4(quads[single ? 0 : i]);                                            \
        values[n] = single ? vec4(quad.x) : quad;                                                 \
    }

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.quads) return;
    LOAD(0, quads0)
    LOAD(1, quads1)
    LOAD(2, quads2)
    LOAD(3, quads3)
    LOAD(4, quads4)
    const uint program[kMaxSteps] = uint[](kStep0, kStep1, kStep2, kStep3, kStep4, kStep5, kStep6, kStep7, kStep8, kStep9,
                                           kStep10, kStep11, kStep12, kStep13);
    [[unroll]] for (uint s = 0; s < kSteps; ++s) {
        const uint word = program[s], code = word & 127, second = word >> 16;
        const vec4 x = operand(word >> 8 & 255);
        vec4 y;
        if (code < kBinary)
            y = unaryOf(code, x, push.literals[second], push.literals[second + 1]);
        else
            y = binaryOf(code - kBinary, x, operand(second));
        values[kInputs + s] = (word >> 7 & 1) != 0 ? max(y, vec4(0)) : y;
    }
    out0[i] = ELEM4(values[kInputs + kResult0]);
    if (kResult1 != kNone) out1[i] = ELEM4(values[kInputs + kResult1]);
    if (kResult2 != kNone) out2[i] = ELEM4(values[kInputs + kResult2]);
}
