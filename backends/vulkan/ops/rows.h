// A tensor in the form of kernels over rows (rows.glsl), [outer][length][inner], and the partition among invocations.
#pragma once
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

struct Rows {
    enum class Kind : uint32_t {
        Elements = 0,
        Quads = 1,       // four adjacent elements of one row
        QuadsOfRows = 2  // an element of each of four adjacent rows
    };
    Kind kind = Kind::Elements;
    // In units of the kind: the number of rows, the steps of a row, the distance between steps.
    int64_t rows = 1, steps = 1, inner = 1;
    uint32_t lanes = 1, localSize = 64;

    Rows() = default;
    // Takes a row-major tensor. sharedBytes: shared memory of the kernel per invocation.
    Rows(const VulkanBackend& backend, int64_t outer, int64_t length, int64_t innerSize, int64_t sharedBytes);
    // Takes the planes of a packed tensor.
    Rows(const VulkanBackend& backend, const Packed& packed, int64_t sharedBytes);

    // Returns the constants 1..3 of rows.glsl.
    std::vector<uint32_t> constants() const { return {lanes, static_cast<uint32_t>(kind), inner > 1}; }
    Push push() const { return Push().u(rows, steps, inner); }
    int64_t groups(const Pipeline& pipeline) const { return ceilDiv(rows, pipeline.localSize / lanes); }
    // Returns the elements of a row.
    int64_t length() const { return kind == Kind::Quads ? steps * 4 : steps; }
    // Returns the rounds of `passes` loops of an invocation over its steps.
    int64_t rounds(int64_t passes) const { return passes * ceilDiv(steps, lanes); }
    // The same for a tensor that may be packed: then a step is a quad of channels in place of four adjacent elements.
    int64_t packedRounds(int64_t passes) const { return rounds(kind == Kind::Quads ? passes * 4 : passes); }

  private:
    void share(const VulkanBackend& backend, int64_t sharedBytes);
};

}  // namespace mnnc::vulkan
