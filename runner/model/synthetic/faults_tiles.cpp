#include <array>

#include <fmt/format.h>

#include "runner/model/synthetic/edits.hpp"
#include "runner/model/synthetic/faults.hpp"

namespace nkigrid::model {
namespace {

using Broken = std::optional<std::string>;

/// Tiles of 256 partitions, where the hardware has 128.
Broken partitions_256(std::string_view source, std::uint64_t) {
  if (auto broken = swap_all(source, {"nl.tile_size.pmax", "256"})) return broken;
  return swap_all(source, {"128", "256"});
}

/// An HBM tensor handed to a compute function without a load.
Broken hbm_operand(std::string_view source, std::uint64_t pick) {
  const Editable edit(source);
  const auto places = edit.places("nl.load(");
  if (places.empty()) return std::nullopt;
  const std::size_t at = places[pick % places.size()];
  const auto brackets = edit.brackets(at);
  if (!brackets) return std::nullopt;
  // Only the first argument stays: the rest belongs to the load.
  std::size_t end = brackets->open + 1;
  for (; end < brackets->close && source[end] != ','; ++end) {
    if (source[end] == '[' || source[end] == '(')
      end = closing_bracket(source, edit.scan, end).value_or(brackets->close);
  }
  const std::string_view operand = source.substr(brackets->open + 1, end - brackets->open - 1);
  return edit.replaced(at, brackets->close + 1 - at, operand);
}

/// A matmul's result used as the next one's operand where it lies, in PSUM.
Broken psum_operand(std::string_view source, std::uint64_t pick) {
  const Editable edit(source);
  std::vector<std::size_t> found;
  for (const std::string_view inner : {"nl.copy(nisa.nc_transpose(", "nl.copy(nisa.nc_matmul(", "nl.copy(nl.matmul("}) {
    for (const std::size_t at : edit.places(inner)) found.push_back(at);
  }
  if (found.empty()) return std::nullopt;
  const std::size_t at = found[pick % found.size()];
  const auto outer = edit.brackets(at);
  const auto inner = outer ? edit.brackets(outer->open + 1) : std::nullopt;
  if (!inner) return std::nullopt;
  return edit.replaced(at, outer->close + 1 - at, source.substr(outer->open + 1, inner->close - outer->open));
}

/// A result kept on chip, where only HBM can be returned.
Broken output_on_chip(std::string_view source, std::uint64_t pick) {
  return swap_one(source, std::array<Swap, 1>{{{"nl.shared_hbm", "nl.sbuf"}}}, pick);
}

/// A missing nl.store: the statement becomes `pass`.
Broken missing_store(std::string_view source, std::uint64_t pick) {
  const Editable edit(source);
  const auto places = edit.places("nl.store(");
  if (places.empty()) return std::nullopt;
  const std::size_t at = places[pick % places.size()];
  const auto brackets = edit.brackets(at);
  if (!brackets) return std::nullopt;
  return edit.replaced(at, brackets->close + 1 - at, "pass");
}

/// Index grids written as one-dimensional ranges.
Broken flat_index(std::string_view source, std::uint64_t pick) {
  const Editable edit(source);
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const std::size_t at : edit.places("nl.arange(")) {
    const auto brackets = edit.brackets(at);
    if (!brackets || source.substr(brackets->close + 1, 1) != "[") continue;
    const auto end = closing_bracket(source, edit.scan, brackets->close + 1);
    if (end) found.emplace_back(brackets->close + 1, *end + 1 - (brackets->close + 1));
  }
  if (found.empty()) return std::nullopt;
  const auto [at, length] = found[pick % found.size()];
  return edit.replaced(at, length, "");
}

Broken without_mask(std::string_view source, std::uint64_t pick) {
  constexpr std::array<std::string_view, 2> kCalls = {"nl.load(", "nl.store("};
  return drop_argument(source, kCalls, "mask", pick);
}

/// One step of a loop too many.
Broken edge_overrun(std::string_view source, std::uint64_t pick) {
  const Editable edit(source);
  const auto places = edit.places("nl.affine_range(");
  if (places.empty()) return std::nullopt;
  const auto brackets = edit.brackets(places[pick % places.size()]);
  if (!brackets) return std::nullopt;
  return edit.replaced(brackets->close, 0, " + 1");
}

/// A contraction that does not lie on the partitions: the transposing load became a plain one, or the transpose flag
/// went.
Broken wrong_transpose(std::string_view source, std::uint64_t pick) {
  constexpr std::array<Swap, 2> kSwaps = {
      {{"nl.load_transpose2d(", "nl.load("}, {"transpose_x=True", "transpose_x=False"}}};
  if (auto broken = swap_one(source, kSwaps, pick)) return broken;
  const Editable edit(source);
  const auto places = edit.places("nisa.nc_transpose(");
  if (places.empty()) return std::nullopt;
  const std::size_t at = places[pick % places.size()];
  return edit.replaced(at, std::string_view("nisa.nc_transpose").size(), "");
}

/// A last axis reduced that is the partition axis.
Broken partition_reduce(std::string_view source, std::uint64_t pick) {
  return swap_one(source, std::array<Swap, 1>{{{"axis=1", "axis=0"}}}, pick);
}

}  // namespace

std::vector<Fault> tile_faults() {
  return {
      {"partitions_256",
       {Code::partition_limit, Code::matmul_limit},
       {"partition", "128"},
       "I used tiles of 256 partitions; the hardware has 128",
       partitions_256},
      {"hbm_operand",
       {Code::wrong_memory, Code::rank_layout},
       {"hbm", "nl.load"},
       "I handed an HBM tensor to a compute function without loading it",
       hbm_operand},
      {"psum_operand",
       {Code::wrong_memory},
       {"psum"},
       "I used a PSUM tile as an operand without copying it to SBUF",
       psum_operand},
      {"output_on_chip",
       {Code::output_contract, Code::wrong_memory, Code::partition_limit, Code::capacity, Code::rank_layout},
       {"shared_hbm", "returned"},
       "I allocated the output on chip instead of in shared_hbm",
       output_on_chip},
      {"missing_store",
       {Code::output_contract, Code::non_finite_uninit},
       {"never written", "not written", "nl.store"},
       "I computed the result and never stored it",
       missing_store},
      {"flat_index",
       {Code::indexing, Code::rank_layout, Code::shape_broadcast},
       {"1d", "1-d", "one-dimensional", "arange"},
       "I indexed with a one-dimensional arange",
       flat_index},
      {"without_mask",
       {Code::oob},
       {"out of bound", "mask", "outside"},
       "I left out the mask of the last, partial tile",
       without_mask},
      {"edge_overrun", {Code::oob}, {"out of bound", "outside"}, "my loop ran one tile too far", edge_overrun},
      {"wrong_transpose",
       {Code::matmul_layout, Code::shape_broadcast, Code::partition_limit, Code::matmul_limit},
       {"transpose", "contraction", "stationary"},
       "I did not transpose the operand, so the contraction axis was not on the partitions",
       wrong_transpose},
      {"partition_reduce",
       {Code::unsupported_op},
       {"partition ax", "axis"},
       "I reduced over the partition axis",
       partition_reduce},
  };
}

}  // namespace nkigrid::model
