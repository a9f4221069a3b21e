// Every kernel includes this: element types of the variant, the recorder's push words, group numbers.
//
// Variants (first line of each kernel): f32 (no macro), f16 (HALF), i32 (INT), add (ADD: a residual, conv_store.glsl),
// q8 (Q8: codes, conv_weights.glsl), many (MANY, attention.comp), up and down (UP, DOWN: conversion.comp,
// reduction.comp).
//   ELEM, ELEM4    the type of an element in a buffer
//   VALUE, VALUE4  the type for arithmetic
// Devices with 16-bit storage may lack 16-bit arithmetic: convert VALUEs when storing and write no constant as an ELEM
// (ELEM(0) is a 16-bit constant, which counts as arithmetic). Buffers of one kernel: layout(binding = i, set = 0),
// readonly or writeonly wherever true, because the validation layer uses it. Constant id 0 is the local size; a
// kernel's own constants start at id 1. The only feature of GLSL 4.50 that kernels use is mix() of integers, which an
// extension of 4.40 has: glslang takes half the time for 4.40, because it reads fewer declarations of built-in
// functions.
#extension GL_EXT_shader_integer_mix : require
#ifdef HALF
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define ELEM float16_t
#define ELEM4 f16vec4
#elif defined(INT)
#define ELEM int
#define ELEM4 ivec4
#else
#define ELEM float
#define ELEM4 vec4
#endif
#ifdef INT
#define VALUE int
#define VALUE4 ivec4
#else
#define VALUE float
#define VALUE4 vec4
#endif

#define kMinusInfinity uintBitsToFloat(0xff800000u)  // where a running maximum starts

layout(local_size_x_id = 0, local_size_y = 1, local_size_z = 1) in;

// A kernel's own push words follow the recorder's two.
#define PUSH(fields)                       \
    layout(push_constant) uniform Push {   \
        uint groups;                       \
        uint firstGroup;                   \
        fields                             \
    } push

// The number of this work group among push.groups. The recorder folds groups beyond an axis into y and z, so there are
// numbers beyond the last: kernels return then.
#define GROUP_INDEX                                                                                 \
    (push.firstGroup + gl_WorkGroupID.x +                                                           \
     gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z))
// The number of this invocation; it exceeds the element count at the end.
#define ELEMENT_INDEX (GROUP_INDEX * gl_WorkGroupSize.x + gl_LocalInvocationID.x)
