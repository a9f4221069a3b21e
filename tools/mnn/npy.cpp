// Converts between element types, and reads and writes .npy files.
#include "npy.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <streambuf>

#include "base/os/paths.h"
#include "errors.h"
#include "output_file.h"
#include "text.h"

namespace tool {
namespace {

template <typename T>
double load(const Array& array, size_t index) {
    T value;
    std::memcpy(&value, array.bytes.data() + index * sizeof(T), sizeof(T));
    return static_cast<double>(value);
}

template <typename T>
void store(Array& array, size_t index, double value) {
    if constexpr (std::numeric_limits<T>::is_integer) {
        const double low = static_cast<double>(std::numeric_limits<T>::lowest());
        const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);  // the largest value is no double
        if (!(value >= low && value < end) || value != std::floor(value))
            throw ToolError(fmt::format("element {} is {}, which is no {}", index, value, elementName(array.element)));
    }
    const T typed = static_cast<T>(value);
    std::memcpy(array.bytes.data() + index * sizeof(T), &typed, sizeof(T));
}

struct Kind {
    Element element;
    const char* descr;
    const char* name;
    size_t bytes;
    double (*load)(const Array& array, size_t index);
    void (*store)(Array& array, size_t index, double value);
};

template <typename T>
constexpr Kind kindFor(Element element, const char* descr, const char* name) {
    return {element, descr, name, sizeof(T), load<T>, store<T>};
}
constexpr Kind kKinds[] = {
    kindFor<float>(Element::Float32, "f4", "float32"),  kindFor<double>(Element::Float64, "f8", "float64"),
    kindFor<int32_t>(Element::Int32, "i4", "int32"),    kindFor<int64_t>(Element::Int64, "i8", "int64"),
    kindFor<int16_t>(Element::Int16, "i2", "int16"),    kindFor<int8_t>(Element::Int8, "i1", "int8"),
    kindFor<uint16_t>(Element::UInt16, "u2", "uint16"), kindFor<uint8_t>(Element::UInt8, "u1", "uint8"),
    kindFor<uint8_t>(Element::Bool, "b1", "bool")};

const Kind& kindOf(Element element) {
    for (const Kind& kind : kKinds)
        if (kind.element == element) return kind;
    return kKinds[0];
}

// Reads the Python dictionary literal in the header, which has the keys descr, fortran_order and shape.
class HeaderParser {
  public:
    HeaderParser(const std::string& text, const std::string& file) : text_(text), file_(file) {}

    Array parse() {
        Array array;
        array.element = element();
        if (valueOf("fortran_order").rfind("False", 0) != 0)
            bad("is in Fortran order; save it with numpy.ascontiguousarray");
        array.shape = shape();
        return array;
    }

    [[noreturn]] void bad(const std::string& what) const { throw ToolError(fmt::format("'{}' {}", file_, what)); }

  private:
    std::string valueOf(const char* key) const {
        for (const char* quote : {"'", "\""}) {
            size_t at = text_.find(std::string(quote) + key + quote);
            if (at == std::string::npos) continue;
            at = text_.find(':', at + std::strlen(key) + 2);
            if (at == std::string::npos) break;
            at = text_.find_first_not_of(" \t", at + 1);
            if (at != std::string::npos) return text_.substr(at);
        }
        bad(fmt::format("has no '{}' in its .npy header", key));
    }

    Element element() const {
        const std::string value = valueOf("descr");
        const size_t end = value.find_first_of("'\"", 1);
        if ((value[0] != '\'' && value[0] != '"') || end == std::string::npos) bad("holds records, not plain numbers");
        const std::string descr = value.substr(1, end - 1);
        if (descr.size() == 3 && (descr[0] == '<' || descr[0] == '|' || descr[0] == '=')) {
            for (const Kind& kind : kKinds)
                if (descr.substr(1) == kind.descr) return kind.element;
        }
        bad(fmt::format("holds elements of type '{}'; readable are <f4 <f8 <i2 <i4 <i8 <u2 |i1 |u1 |b1", descr));
    }

    std::vector<int64_t> shape() const {
        const std::string value = valueOf("shape");
        const size_t end = value.find(')');
        if (value[0] != '(' || end == std::string::npos) bad("has no tuple as shape in its .npy header");
        std::vector<int64_t> dims;
        for (size_t at = 1; at < end;) {
            if (value[at] == ' ' || value[at] == ',') {
                at++;
                continue;
            }
            int64_t dim = 0;
            const size_t begin = at;
            for (; at < end && value[at] >= '0' && value[at] <= '9'; at++) {
                if (dim > (std::numeric_limits<int64_t>::max() - 9) / 10) bad("has an extent that is too large");
                dim = dim * 10 + (value[at] - '0');
            }
            if (at == begin) bad("has an extent that is no number in its .npy header");
            dims.push_back(dim);
        }
        return dims;
    }

    const std::string& text_;
    const std::string& file_;
};

// A buffer through which a stream reads from memory.
class BytesBuffer : public std::streambuf {
  public:
    explicit BytesBuffer(std::string_view bytes) {
        char* begin = const_cast<char*>(bytes.data());  // input streams do not write
        setg(begin, begin, begin + bytes.size());
    }
};

Array readStream(std::istream& in, uint64_t fileBytes, const std::string& name) {
    const std::string none;
    const HeaderParser reporter(none, name);
    unsigned char lead[12] = {};
    in.read(reinterpret_cast<char*>(lead), 10);
    if (!in || std::memcmp(lead, "\x93NUMPY", 6) != 0) reporter.bad("is no .npy file");
    size_t headerBytes = lead[8] | lead[9] << 8;
    size_t begin = 10;
    if (lead[6] == 2 || lead[6] == 3) {
        in.read(reinterpret_cast<char*>(lead) + 10, 2);
        headerBytes |= static_cast<size_t>(lead[10]) << 16 | static_cast<size_t>(lead[11]) << 24;
        begin = 12;
    } else if (lead[6] != 1) {
        reporter.bad(fmt::format("has .npy version {}; readable are 1 to 3", lead[6]));
    }
    if (!in || headerBytes > fileBytes - begin) reporter.bad("ends inside its .npy header");
    std::string header(headerBytes, '\0');
    in.read(header.data(), static_cast<std::streamsize>(headerBytes));

    Array array = HeaderParser(header, name).parse();
    const uint64_t left = fileBytes - begin - headerBytes;
    uint64_t bytes = elementBytes(array.element);
    bool empty = false;
    for (const int64_t dim : array.shape) empty = empty || dim == 0;
    for (const int64_t dim : array.shape) {
        if (empty) break;
        if (static_cast<uint64_t>(dim) > left / bytes)
            reporter.bad(fmt::format("is too short for its shape {}", shapeText(array.shape)));
        bytes *= static_cast<uint64_t>(dim);
    }
    if (empty) bytes = 0;
    if (bytes != left)
        reporter.bad(fmt::format("holds {} bytes of data, its shape {} of {} wants {}", left, shapeText(array.shape),
                                 elementName(array.element), bytes));
    array.bytes.resize(bytes);
    in.read(reinterpret_cast<char*>(array.bytes.data()), static_cast<std::streamsize>(bytes));
    if (!in) throw ToolError(fmt::format("cannot read '{}'", name));
    return array;
}

}  // namespace

size_t elementBytes(Element element) {
    return kindOf(element).bytes;
}
const char* elementName(Element element) {
    return kindOf(element).name;
}

double valueAt(const Array& array, size_t index) {
    return kindOf(array.element).load(array, index);
}

Array convert(const Array& array, Element element) {
    if (array.element == element) return array;
    Array out{element, array.shape, std::vector<unsigned char>(array.count() * elementBytes(element))};
    for (size_t i = 0; i < array.count(); i++) kindOf(out.element).store(out, i, valueAt(array, i));
    return out;
}

Array readNpy(const std::filesystem::path& path) {
    const std::string name = mnnc::os::textOf(path);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || std::filesystem::is_directory(path)) throw ToolError(fmt::format("cannot open '{}'", name));
    const uint64_t fileBytes = static_cast<uint64_t>(in.tellg());
    in.seekg(0);
    return readStream(in, fileBytes, name);
}

Array parseNpy(std::string_view bytes, const std::string& file) {
    BytesBuffer buffer(bytes);
    std::istream in(&buffer);
    return readStream(in, bytes.size(), file);
}

std::string npyText(const Array& array) {
    const Kind& kind = kindOf(array.element);
    std::string dims;
    for (const int64_t dim : array.shape) dims += fmt::format("{}, ", dim);
    if (array.shape.size() > 1) dims.resize(dims.size() - 2);
    if (array.shape.size() == 1) dims.resize(dims.size() - 1);
    std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                     kind.bytes == 1 ? '|' : '<', kind.descr, dims);
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';

    std::string lead = "\x93NUMPY";
    lead += {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
    std::string file = lead + header;
    file.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
    return file;
}

void writeNpy(const std::filesystem::path& path, const Array& array) {
    writeOutput(mnnc::os::textOf(path), npyText(array));
}

}  // namespace tool
