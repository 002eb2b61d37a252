#include "jobs/base/csv.hpp"

#include <cstdlib>

#include "jobs/base/text.hpp"

namespace nkigrid {
namespace {

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0';
}

bool is_formula(const std::string& text) {
  return text.size() > 1 && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos &&
         !is_number(text);
}

}  // namespace

std::string csv_field(std::string_view bytes) {
  auto text = to_valid_utf8(bytes);
  if (is_formula(text)) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace nkigrid
