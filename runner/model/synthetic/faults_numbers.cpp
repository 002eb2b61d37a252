#include <array>

#include "runner/model/synthetic/edits.hpp"
#include "runner/model/synthetic/faults.hpp"

namespace nkigrid::model {
namespace {

using Broken = std::optional<std::string>;

/// Each step overwrites the sum instead of adding to it.
Broken dropped_accumulation(std::string_view source, std::uint64_t pick) {
  const Editable edit(source);
  const auto places = edit.places(" += ");
  if (places.empty()) return std::nullopt;
  const std::size_t at = places[pick % places.size()];
  const std::string_view target = source.substr(edit.line_start(at), at - edit.line_start(at));
  return edit.replaced(at, 4, target.ends_with(']') ? " = " : "[...] = ");
}

/// Values rounded to bfloat16 on their way in.
Broken bf16_loss(std::string_view source, std::uint64_t pick) {
  const Editable edit(source);
  std::vector<std::size_t> ends;
  for (const std::size_t at : edit.places("nl.load(")) {
    const auto brackets = edit.brackets(at);
    if (!brackets) continue;
    const std::string_view inside = source.substr(brackets->open, brackets->close - brackets->open);
    if (inside.find("dtype=") == std::string_view::npos) ends.push_back(brackets->close);
  }
  if (!ends.empty()) return edit.replaced(ends[pick % ends.size()], 0, ", dtype=nl.bfloat16");
  return swap_one(source, std::array<Swap, 1>{{{", dtype=nl.float32)", ", dtype=nl.bfloat16)"}}}, pick);
}

Broken wrong_operation(std::string_view source, std::uint64_t pick) {
  constexpr std::array<Swap, 6> kSwaps = {{{"nl.add(", "nl.subtract("},
                                           {"nl.maximum(", "nl.minimum("},
                                           {"nl.subtract(", "nl.add("},
                                           {"nl.max(", "nl.min("},
                                           {"np.add", "np.subtract"},
                                           {"nl.rsqrt(", "nl.sqrt("}}};
  return swap_one(source, kSwaps, pick);
}

/// A factor of the formula forgotten.
Broken wrong_scale(std::string_view source, std::uint64_t pick) {
  constexpr std::array<Swap, 7> kSwaps = {{{"1.0 /", "2.0 /"},
                                           {"0.5", "0.25"},
                                           {"SCALE)", "1.0)"},
                                           {"ALPHA)", "1.0)"},
                                           {"-0.5", "-1.0"},
                                           {"nl.square(", "nl.abs("},
                                           {"0.044715", "0.044"}}};
  return swap_one(source, kSwaps, pick);
}

/// The loop stops one tile early, so the tail is never written.
Broken skipped_tail(std::string_view source, std::uint64_t pick) {
  const Editable edit(source);
  const auto places = edit.places("nl.affine_range(");
  if (places.empty()) return std::nullopt;
  const auto brackets = edit.brackets(places[pick % places.size()]);
  if (!brackets) return std::nullopt;
  return edit.replaced(brackets->close, 0, " - 1");
}

/// Softmax without taking the maximum off, or a mean never subtracted.
Broken unshifted(std::string_view source, std::uint64_t pick) {
  const Editable edit(source);
  std::vector<std::size_t> found;
  for (const std::string_view call :
       {"nl.subtract(tile, top)", "nl.subtract(scores, top)", "nl.subtract(seen, top)", "nl.subtract(tile, mean)"}) {
    for (const std::size_t at : edit.places(call)) found.push_back(at);
  }
  if (found.empty()) return std::nullopt;
  const std::size_t at = found[pick % found.size()];
  const auto brackets = edit.brackets(at);
  return edit.replaced(at, brackets->close + 1 - at,
                       source.substr(brackets->open + 1, source.find(',', at) - brackets->open - 1));
}

}  // namespace

std::vector<Fault> number_faults() {
  return {
      {"dropped_accumulation",
       {Code::scope_loop_dep},
       {"accumul", "dependen", "overwrit"},
       "I overwrote the accumulator in each step instead of adding to it",
       dropped_accumulation},
      {"bf16_loss",
       {Code::dtype},
       {"bf16", "bfloat16", "precision", "rounding"},
       "I let values be rounded to bfloat16, too coarse for the tolerance",
       bf16_loss},
      {"wrong_operation",
       {},
       {"sign", "operation"},
       "I used the wrong operation in one place of the formula",
       wrong_operation},
      {"wrong_scale", {}, {"scale", "factor", "constant"}, "one factor of the formula was wrong", wrong_scale},
      {"skipped_tail",
       {Code::non_finite_uninit, Code::output_contract},
       {"never written", "not written", "unwritten", "tail"},
       "my loop stopped before the last tile",
       skipped_tail},
      {"unshifted",
       {Code::non_finite_uninit},
       {"overflow", "infinit", "range"},
       "I forgot to take the row's offset off first",
       unshifted},
  };
}

}  // namespace nkigrid::model
