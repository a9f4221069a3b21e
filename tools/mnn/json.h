// JSON values, which commands print and case.json holds. Only json.cpp includes the library that parses and prints
// them, because it takes many seconds to compile.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tool {

// A text is not JSON, or a value is not of the kind that its reader expects.
class JsonError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Json {
  public:
    enum class Kind { Null, Bool, Signed, Unsigned, Real, String, Array, Object };

    Json(std::nullptr_t = nullptr) {}
    Json(bool value) : kind_(Kind::Bool), unsigned_(value) {}
    template <std::signed_integral T>
    Json(T value) : kind_(Kind::Signed), signed_(value) {}
    template <std::unsigned_integral T>
    Json(T value) : kind_(Kind::Unsigned), unsigned_(value) {}
    Json(double value) : kind_(Kind::Real), real_(value) {}
    Json(const char* value) : kind_(Kind::String), string_(value) {}
    Json(std::string value) : kind_(Kind::String), string_(std::move(value)) {}
    Json(const std::vector<int64_t>& values);
    Json(const std::map<std::string, size_t>& values);
    static Json array();
    static Json object(std::initializer_list<std::pair<const char*, Json>> members = {});

    // Throws JsonError for a text that is not JSON or is nested too deeply.
    static Json parse(std::string_view text);
    // Objects keep the order in which their members were added. Bytes that are not UTF-8 are replaced.
    std::string dump(int indent) const;

    // These build a value. A member that does not exist is added.
    void push(Json value);
    void push(std::string name,
              Json value);  // in constant time: replaces no member, but at() finds the last one
    Json& operator[](std::string_view name);

    // These read a value. Each throws JsonError for a value of another kind and for a member that does not exist.
    Kind kind() const { return kind_; }
    bool isNull() const { return kind_ == Kind::Null; }
    bool isArray() const { return kind_ == Kind::Array; }
    bool contains(std::string_view name) const;
    const Json& at(std::string_view name) const;
    bool boolean() const;
    int64_t integer() const;
    uint64_t natural() const;
    double number() const;
    const std::string& string() const;
    std::vector<int64_t> integers() const;
    const std::vector<Json>& items() const;         // elements of an array, values of an object
    const std::vector<std::string>& names() const;  // names of an object's members, in the order of items()

  private:
    [[noreturn]] void refuse(const char* expected) const;

    Kind kind_ = Kind::Null;
    union {
        int64_t signed_;
        uint64_t unsigned_ = 0;
        double real_;
    };
    std::string string_;
    std::vector<std::string> names_;
    std::vector<Json> items_;
};

}  // namespace tool
