#include "runner/agent/extract.hpp"

#include <vector>

#include "runner/agent/code_kind.hpp"
#include "runner/agent/fences.hpp"
#include "runner/model/recovery/thinking.hpp"

namespace nkigrid::agent {
namespace {

std::string_view how_found(const Fence& fence) {
  if (!fence.closed) return "unclosed_fence";
  return fence.grown ? "last_fence_extended" : "last_fence";
}

}  // namespace

std::optional<Extracted> extract_code(std::string_view reply, bool truncated) {
  std::vector<Fence> fences = fences_of(model::without_thinking(reply));
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
