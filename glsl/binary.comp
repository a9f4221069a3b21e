// variants: f32 f16 i32
// BinaryOp whose output has the type of its inputs.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "binary.glsl"
