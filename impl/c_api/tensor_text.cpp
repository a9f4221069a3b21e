// mnn_tensor_print(): a tensor as text, in brackets as NumPy's.
#include <algorithm>

#include "base/json_text.h"
#include "c_api/guard.h"
#include "c_api/host_values.h"
#include "tensor/data_type.h"

using namespace mnnc;

namespace {

constexpr const char* kFormats[] = {"NCHW", "NHWC", "NC4HW4"};

// A copy of a tensor's values with their type and shape.
struct Values {
    explicit Values(const mnn_tensor_t* tensor) {
        mnn_tensor_properties_t info{};
        info.struct_size = sizeof info;
        requireSuccess(mnn_tensor_shape(tensor, dims, MNN_MAX_RANK, &rank));
        requireSuccess(mnn_tensor_info(tensor, &info));
        format = info.format;
        const int32_t type = info.type;
        size_t count = 0;
        requireSuccess(mnn_tensor_element_count(tensor, &count));
        isFloat = type == MNN_TYPE_FLOAT32 || type == MNN_TYPE_BFLOAT16 || type == MNN_TYPE_FLOAT16 ||
                  type == MNN_TYPE_DOUBLE;
        // A double holds every element type of a tensor.
        numbers.resize(count);
        const int32_t order = format == MNN_FORMAT_NHWC ? MNN_FORMAT_NHWC : MNN_FORMAT_NCHW;
        requireSuccess(mnn_tensor_read_as(tensor, numbers.data(), count * sizeof(double), MNN_TYPE_DOUBLE, order));
    }
    std::string text(size_t index) const {
        return isFloat ? numberText(numbers[index]) : mnnc::format("%.0f", numbers[index]);
    }

    int32_t dims[MNN_MAX_RANK] = {};
    size_t rank = 0;
    int32_t format = 0;
    bool isFloat = false;
    std::vector<double> numbers;
};

class Writer {
  public:
    Writer(const Values& values, size_t edge) : values_(values), edge_(edge) {
        if (values.numbers.empty()) return;
        visit(0, 0, [&](size_t index) { width_ = std::max(width_, values_.text(index).size()); });
    }
    std::string text() {
        if (values_.rank == 0) return values_.text(0);
        if (values_.numbers.empty()) return "[]";
        std::string out;
        write(0, 0, out);
        return out;
    }

  private:
    size_t extent(size_t axis) const { return static_cast<size_t>(values_.dims[axis]); }
    bool elides(size_t axis) const { return edge_ > 0 && edge_ < extent(axis) && edge_ < extent(axis) - edge_; }
    // Visits the positions along an axis that are shown; calls `gap` where some are left out.
    template <typename Shown, typename Gap>
    void along(size_t axis, const Shown& shown, const Gap& gap) const {
        const size_t count = extent(axis), first = elides(axis) ? edge_ : count;
        for (size_t i = 0; i < first; ++i) shown(i);
        if (first == count) return;
        gap();
        for (size_t i = count - edge_; i < count; ++i) shown(i);
    }
    template <typename Use>
    void visit(size_t axis, size_t at, const Use& use) const {
        if (axis == values_.rank) return use(at);
        along(
            axis, [&](size_t i) { visit(axis + 1, at * extent(axis) + i, use); }, [] {});
    }
    void write(size_t axis, size_t at, std::string& out) const {
        if (axis == values_.rank) {
            const std::string number = values_.text(at);
            out.append(width_ - number.size(), ' ');
            out += number;
            return;
        }
        const bool last = axis + 1 == values_.rank;
        bool first = true;
        const auto separate = [&] {
            if (!first && last) out += ' ';
            if (!first && !last) out.append(values_.rank - axis - 1, '\n').append(axis + 1, ' ');
            first = false;
        };
        out += '[';
        along(
            axis,
            [&](size_t i) {
                separate();
                write(axis + 1, at * extent(axis) + i, out);
            },
            [&] {
                separate();
                out += "...";
            });
        out += ']';
    }

    const Values& values_;
    const size_t edge_;
    size_t width_ = 0;
};

}  // namespace

mnn_status mnn_tensor_print(const mnn_tensor_t* tensor, size_t edge, char* buffer, size_t capacity, size_t* needed) {
    return guard([&] {
        const TensorUse handle(tensor, Access::Read, "mnn_tensor_print");
        const Values values(tensor);
        std::string text = format("%s %s [", handle.storage().name.c_str(), hostTypeName(handle.type()));
        for (size_t i = 0; i < values.rank; ++i) text += format(i ? ", %d" : "%d", values.dims[i]);
        text += format("] %s\n", kFormats[values.format]);
        text += Writer(values, edge).text() + "\n";
        fillBuffer(buffer, capacity, needed, text.c_str(), text.size() + 1, "the text");
    });
}
