// The only source that includes nlohmann/json.hpp.
#include "json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tool {
namespace {

using Ordered = nlohmann::ordered_json;

// Deeper values would exhaust the stack when they are copied or destroyed.
constexpr size_t kMaxDepth = 64;

const char* kindName(Json::Kind kind) {
    switch (kind) {
        case Json::Kind::Null:
            return "null";
        case Json::Kind::Bool:
            return "a boolean";
        case Json::Kind::Signed:
        case Json::Kind::Unsigned:
        case Json::Kind::Real:
            return "a number";
        case Json::Kind::String:
            return "a string";
        case Json::Kind::Array:
            return "an array";
        case Json::Kind::Object:
            return "an object";
    }
    return "unknown";
}

// Receives the parser's events and builds the value that they describe.
class Builder {
  public:
    bool null() { return add(nullptr); }
    bool boolean(bool value) { return add(value); }
    bool number_integer(int64_t value) { return add(value); }
    bool number_unsigned(uint64_t value) { return add(value); }
    bool number_float(double value, const std::string&) { return add(value); }
    bool string(std::string& value) { return add(value); }
    bool binary(std::vector<uint8_t>&) { return false; }
    bool start_object(size_t) { return open(Json::object()); }
    bool start_array(size_t) { return open(Json::array()); }
    bool key(std::string& name) {
        name_ = name;
        return true;
    }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) {
        throw JsonError(error.what());
    }

    Json take() { return std::move(root_); }

  private:
    // Adds a value to the innermost open one and returns its address. Values move when a later one is added beside
    // them, but then none of their own members is open.
    Json* place(Json value) {
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        Json& parent = *open_.back();
        if (parent.isArray())
            parent.push(std::move(value));
        else
            parent.push(name_, std::move(value));
        return const_cast<Json*>(&parent.items().back());
    }
    bool add(Json value) {
        place(std::move(value));
        return true;
    }
    bool open(Json value) {
        if (open_.size() == kMaxDepth)
            throw JsonError("arrays and objects are nested deeper than " + std::to_string(kMaxDepth));
        open_.push_back(place(std::move(value)));
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    Json root_;
    std::vector<Json*> open_;
    std::string name_;
};

Ordered printable(const Json& value) {
    switch (value.kind()) {
        case Json::Kind::Null:
            return nullptr;
        case Json::Kind::Bool:
            return value.boolean();
        case Json::Kind::Signed:
            return value.integer();
        case Json::Kind::Unsigned:
            return value.natural();
        case Json::Kind::Real:
            return value.number();
        case Json::Kind::String:
            return value.string();
        case Json::Kind::Array: {
            Ordered list = Ordered::array();
            for (const Json& item : value.items()) list.push_back(printable(item));
            return list;
        }
        case Json::Kind::Object: {
            Ordered object = Ordered::object();
            for (size_t i = 0; i < value.names().size(); i++) object[value.names()[i]] = printable(value.items()[i]);
            return object;
        }
    }
    return nullptr;
}

}  // namespace

Json::Json(const std::vector<int64_t>& values) : kind_(Kind::Array), items_(values.begin(), values.end()) {}

Json::Json(const std::map<std::string, size_t>& values) : kind_(Kind::Object) {
    for (const auto& [name, value] : values) (*this)[name] = value;
}

Json Json::array() {
    Json value;
    value.kind_ = Kind::Array;
    return value;
}

Json Json::object(std::initializer_list<std::pair<const char*, Json>> members) {
    Json value;
    value.kind_ = Kind::Object;
    for (const auto& [name, member] : members) value[name] = member;
    return value;
}

Json Json::parse(std::string_view text) {
    Builder builder;
    Ordered::sax_parse(text.begin(), text.end(), &builder);
    return builder.take();
}

std::string Json::dump(int indent) const {
    return printable(*this).dump(indent, ' ', false, Ordered::error_handler_t::replace);
}

void Json::push(Json value) {
    if (kind_ != Kind::Array) refuse("an array");
    items_.push_back(std::move(value));
}

void Json::push(std::string name, Json value) {
    if (kind_ != Kind::Object) refuse("an object");
    names_.push_back(std::move(name));
    items_.push_back(std::move(value));
}

Json& Json::operator[](std::string_view name) {
    if (kind_ == Kind::Null) kind_ = Kind::Object;
    if (kind_ != Kind::Object) refuse("an object");
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return items_[static_cast<size_t>(found - names_.begin())];
    names_.emplace_back(name);
    return items_.emplace_back();
}

bool Json::contains(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
}

const Json& Json::at(std::string_view name) const {
    if (kind_ != Kind::Object) refuse("an object");
    const auto found = std::find(names_.rbegin(), names_.rend(), name);
    if (found == names_.rend()) throw JsonError("there is no member '" + std::string(name) + "'");
    return items_[static_cast<size_t>(names_.rend() - found) - 1];
}

bool Json::boolean() const {
    if (kind_ != Kind::Bool) refuse("a boolean");
    return unsigned_ != 0;
}

int64_t Json::integer() const {
    if (kind_ == Kind::Signed) return signed_;
    if (kind_ != Kind::Unsigned || unsigned_ > INT64_MAX) refuse("an integer of 64 bits");
    return static_cast<int64_t>(unsigned_);
}

uint64_t Json::natural() const {
    if (kind_ == Kind::Unsigned) return unsigned_;
    if (kind_ != Kind::Signed || signed_ < 0) refuse("an integer that is not negative");
    return static_cast<uint64_t>(signed_);
}

double Json::number() const {
    if (kind_ == Kind::Real) return real_;
    if (kind_ == Kind::Signed) return static_cast<double>(signed_);
    if (kind_ != Kind::Unsigned) refuse("a number");
    return static_cast<double>(unsigned_);
}

const std::string& Json::string() const {
    if (kind_ != Kind::String) refuse("a string");
    return string_;
}

std::vector<int64_t> Json::integers() const {
    std::vector<int64_t> values;
    for (const Json& item : items()) values.push_back(item.integer());
    return values;
}

const std::vector<Json>& Json::items() const {
    if (kind_ != Kind::Array && kind_ != Kind::Object) refuse("an array");
    return items_;
}

const std::vector<std::string>& Json::names() const {
    if (kind_ != Kind::Object) refuse("an object");
    return names_;
}

void Json::refuse(const char* expected) const {
    throw JsonError(std::string("a value is ") + kindName(kind_) + " where " + expected + " is expected");
}

}  // namespace tool
