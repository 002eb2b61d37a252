#include "runner/agent/extract.hpp"

#include <vector>

#include "runner/agent/code_kind.hpp"
#include "runner/agent/fences.hpp"

namespace nkigrid::agent {
namespace {

std::string_view how_found(const Fence& fence) {
  if (!fence.closed) return "unclosed_fence";
  return fence.grown ? "last_fence_extended" : "last_fence";
}

}  // namespace

std::string without_thinking(std::string_view reply) {
  std::string text(reply);
  for (const std::string_view name : {"think", "thinking"}) {
    const std::string open = "<" + std::string(name) + ">", close = "</" + std::string(name) + ">";
    for (;;) {
      const std::size_t begin = text.find(open);
      const std::size_t end = text.find(close);
      if (begin == std::string::npos && end == std::string::npos) break;
      if (begin != std::string::npos && (end == std::string::npos || end < begin)) {
        // An opening tag that is never closed after it.
        const std::size_t later = end == std::string::npos ? end : text.find(close, begin);
        text.erase(begin, later == std::string::npos ? later : later + close.size() - begin);
      } else {
        text.erase(begin == std::string::npos ? 0 : begin,
                   end + close.size() - (begin == std::string::npos ? 0 : begin));
      }
    }
  }
  return text;
}

std::optional<Extracted> extract_code(std::string_view reply, bool truncated) {
  std::vector<Fence> fences = fences_of(without_thinking(reply));
  if (truncated && !fences.empty() && !fences.back().closed) fences.pop_back();
  Fence* chosen = nullptr;
  CodeKind best = CodeKind::other;
  for (Fence& fence : fences) {
    if (!is_python_tag(fence.tag)) continue;
    const CodeKind kind = kind_of(fence.text);
    if (kind == CodeKind::other || kind < best) continue;
    chosen = &fence;
    best = kind;
  }
  if (chosen == nullptr) return std::nullopt;
  return Extracted{std::move(chosen->text), how_found(*chosen)};
}

}  // namespace nkigrid::agent
