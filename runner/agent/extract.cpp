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

/// The text without what stands between `open` and `close`: of an opening tag that is never closed all that follows, of
/// a closing tag that nothing opened all that comes before. Goes over the text once: a model decides how long it is.
std::string without_element(std::string_view text, std::string_view open, std::string_view close) {
  std::string kept;
  std::size_t at = 0, next_open = text.find(open), next_close = text.find(close);
  while (next_open != std::string_view::npos || next_close != std::string_view::npos) {
    if (next_close < next_open) {
      kept.clear();
    } else {
      kept += text.substr(at, next_open - at);
      if (next_close == std::string_view::npos) return kept;
    }
    at = next_close + close.size();
    if (next_open < at) next_open = text.find(open, at);
    next_close = text.find(close, at);
  }
  return kept += text.substr(at);
}

}  // namespace

std::string without_thinking(std::string_view reply) {
  std::string text(reply);
  for (const std::string name : {"think", "thinking"})
    text = without_element(text, "<" + name + ">", "</" + name + ">");
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
