// variants: f32 f16
// BinaryOp: comparisons of floats, int32 results.
#version 440
#extension GL_GOOGLE_include_directive : require
#define COMPARE
#include "binary.glsl"
