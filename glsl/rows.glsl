// Kernels over rows: a row has `steps` steps from a base on, `inner` apart, and kLanes invocations divide it. A step is
// an element or a quad. Included after the kernel's push words, which begin with rows, steps, inner.
layout(constant_id = 1) const uint kLanes = 1;  // a power of two, at most the local size
// 0: elements; 1: quads whose elements belong to the same row; 2: quads of four rows
layout(constant_id = 2) const uint kKind = 0;
// Neighbouring invocations take neighbouring rows instead of neighbouring steps, because rows lie side by side.
layout(constant_id = 3) const bool kColumns = false;

const uint kRows = gl_WorkGroupSize.x / kLanes;  // of a work group

#define ROW_LANE (kColumns ? gl_LocalInvocationID.x / kRows : gl_LocalInvocationID.x % kLanes)
#define ROW_OF_GROUP (kColumns ? gl_LocalInvocationID.x % kRows : gl_LocalInvocationID.x / kLanes)
#define ROW_BASE(row) ((row) / push.inner * push.steps * push.inner + (row) % push.inner)

// Combines the `value` of all lanes of a row into one that each lane gets: combine(a, b) in a fixed order. `part` is a
// shared array of the local size. All invocations of the group must reach this.
#define REDUCE_ROW(value, part, combine)                                                          \
    if (kLanes > 1) {                                                                             \
        barrier();                                                                                \
        part[lane * kRows + rowOfGroup] = value;                                                  \
        for (uint distance_ = kLanes / 2; distance_ > 0; distance_ /= 2) {                        \
            barrier();                                                                            \
            if (lane < distance_)                                                                 \
                part[lane * kRows + rowOfGroup] =                                                 \
                    combine(part[lane * kRows + rowOfGroup], part[(lane + distance_) * kRows + rowOfGroup]); \
        }                                                                                         \
        barrier();                                                                                \
        value = part[rowOfGroup];                                                                 \
    }
