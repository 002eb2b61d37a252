#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// JSON written straight into a text. A conversation goes out and into the log at every turn, whole: a tree of it in
/// memory would cost a turn more than all else that is done with it.
namespace nkigrid::model {

/// Appends a string literal of JSON, in the bytes in which nlohmann::json::dump() writes it: other readers and older
/// logs know texts so. What is ill-formed becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// An object that is being written. Keys are written in the order in which they are given; that of dump() is the
/// alphabet's.
class JsonObject {
 public:
  /// @param out outlives this; holds the object's beginning until end()
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }

  JsonObject& text(std::string_view key, std::string_view value);
  JsonObject& number(std::string_view key, std::uint64_t value);
  /// A value that is JSON already.
  JsonObject& raw(std::string_view key, std::string_view json);
  /// A key whose value the caller appends to the text next.
  void begin(std::string_view key);
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace nkigrid::model
