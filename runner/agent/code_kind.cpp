#include "runner/agent/code_kind.hpp"

#include <algorithm>
#include <array>

#include "runner/model/python/scan.hpp"
#include "runner/model/python/shape.hpp"

namespace nkigrid::agent {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// The first words of the lines of a source that are code.
class Lines {
 public:
  explicit Lines(std::string_view code) : code_(code), scan_(model::scan_python(code)) {
    // Where a string does not end nobody can tell code from text: then every line is looked at.
    if (scan_.unterminated) std::fill(scan_.parts.begin(), scan_.parts.end(), model::PythonPart::code);
  }

  /// Calls `see` with each line from its first word on, until it answers true. @returns whether it did
  template <class See>
  bool any(See see) const {
    for (std::size_t begin = 0; begin < code_.size();) {
      const std::size_t end = std::min(code_.find('\n', begin), code_.size());
      const std::size_t first = code_.find_first_not_of(" \t", begin);
      if (first < end && scan_.parts[first] == model::PythonPart::code && see(code_.substr(first, end - first)))
        return true;
      begin = end + 1;
    }
    return false;
  }

  bool names(std::string_view name) const { return model::find_code(code_, scan_, name) != kNone; }

 private:
  std::string_view code_;
  model::PythonScan scan_;
};

/// `@nki.jit`, `@jit(...)`, and what earlier releases called it.
bool is_jit_decorator(std::string_view line) {
  if (!line.starts_with('@')) return false;
  line.remove_prefix(std::min(line.find_first_not_of(" \t", 1), line.size()));
  line = line.substr(0, line.find_first_of("( \t\r#"));
  const std::size_t dot = line.rfind('.');
  if (dot != kNone) line.remove_prefix(dot + 1);
  constexpr std::array<std::string_view, 5> kNames = {"jit", "nki_jit", "baremetal", "benchmark", "profile"};
  return std::find(kNames.begin(), kNames.end(), line) != kNames.end();
}

bool is_definition(std::string_view line) { return line.starts_with("def "); }

bool is_torch_import(std::string_view line) {
  return line.starts_with("import torch") || line.starts_with("from torch");
}

/// A kernel of which the reply shows more than its head: `...` stands for what another block has.
bool holds_jit_function(const Lines& lines) {
  bool decorated = false, defined = false, whole = false;
  lines.any([&](std::string_view line) {
    if (defined) whole = whole || !line.starts_with("...");
    if (whole) return true;
    if (defined) decorated = false;
    decorated = decorated || is_jit_decorator(line);
    defined = decorated && is_definition(line);
    const auto body = line.find("):");  // of a function in one line
    if (defined && body != kNone) whole = line.find_first_not_of(" \t.#", body + 2) != kNone;
    return whole;
  });
  return whole || defined;
}

bool names_torch(const Lines& lines) {
  return lines.any(is_torch_import) || lines.names("torch.") || lines.names("nn.Module");
}

bool speaks_nki(const Lines& lines) { return lines.names("nl.") || lines.names("nki") || lines.names("nisa."); }

/// What is to be changed in a file is no file: whoever reads it would have to guess the rest.
bool is_diff(const Lines& lines) {
  return lines.any([](std::string_view line) { return line.starts_with("@@ -") || line.starts_with("<<<<<<< "); });
}

}  // namespace

CodeKind kind_of(std::string_view code) {
  const Lines lines(code);
  if (is_diff(lines)) return CodeKind::other;
  if (holds_jit_function(lines)) return CodeKind::kernel;
  if (!lines.any(is_definition) || names_torch(lines)) return CodeKind::other;
  return speaks_nki(lines) || model::looks_like_python(code) ? CodeKind::function : CodeKind::other;
}

}  // namespace nkigrid::agent
