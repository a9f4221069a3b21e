// Formats text from patterns such as "{:8.3f} ms", in the syntax of {fmt}, and from shapes, counts and sizes. Only
// text.cpp includes {fmt} itself, because it takes seconds to compile.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tool::text {

// A pattern whose number of placeholders the compiler checks. A specification that does not fit the type of its value
// ("{:d}" for a string) throws when it is formatted.
template <size_t Count>
class Pattern {
  public:
    template <size_t Size>
    consteval Pattern(const char (&pattern)[Size]) : pattern_(pattern, Size - 1) {
        size_t count = 0;
        for (size_t i = 0; i < pattern_.size(); i++) {
            if (pattern_[i] != '{') continue;
            if (pattern_[i + 1] == '{')
                i++;
            else
                count++;
        }
        if (count != Count) throw "the pattern has another number of placeholders than there are values";
    }
    std::string_view view() const { return pattern_; }

  private:
    std::string_view pattern_;
};

// A value of one of the types that patterns accept. It refers to the strings that it is made of.
class Value {
  public:
    Value(char value) : kind(Kind::Character), character(value) {}
    Value(int value) : kind(Kind::Signed), integer(value) {}
    Value(long value) : kind(Kind::Signed), integer(value) {}
    Value(long long value) : kind(Kind::Signed), integer(value) {}
    Value(unsigned value) : kind(Kind::Unsigned), natural(value) {}
    Value(unsigned long value) : kind(Kind::Unsigned), natural(value) {}
    Value(unsigned long long value) : kind(Kind::Unsigned), natural(value) {}
    Value(double value) : kind(Kind::Real), real(value) {}
    Value(const char* value) : kind(Kind::String), string(value) {}
    Value(const std::string& value) : kind(Kind::String), string(value) {}
    Value(std::string_view value) : kind(Kind::String), string(value) {}

    enum class Kind { Character, Signed, Unsigned, Real, String };
    Kind kind;
    union {
        char character;
        int64_t integer;
        uint64_t natural;
        double real;
        std::string_view string;
    };
};

std::string formatValues(std::string_view pattern, std::span<const Value> values);
void printValues(std::FILE* file, std::string_view pattern, std::span<const Value> values);

template <typename... Values>
std::string format(Pattern<sizeof...(Values)> pattern, const Values&... values) {
    return formatValues(pattern.view(), std::initializer_list<Value>{values...});
}
template <typename... Values>
void print(std::FILE* file, Pattern<sizeof...(Values)> pattern, const Values&... values) {
    printValues(file, pattern.view(), std::initializer_list<Value>{values...});
}
template <typename... Values>
void print(Pattern<sizeof...(Values)> pattern, const Values&... values) {
    printValues(stdout, pattern.view(), std::initializer_list<Value>{values...});
}

}  // namespace tool::text

namespace tool {

std::string shapeText(const std::vector<int64_t>& shape);  // "1x3x224x224", "scalar"
std::string countText(double number);                      // "1.24 M"
std::string bytesText(uint64_t bytes);                     // "4.7 MiB"

}  // namespace tool
