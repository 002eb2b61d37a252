#include <array>

#include "runner/model/synthetic/edits.hpp"
#include "runner/model/synthetic/faults.hpp"

namespace nkigrid::model {
namespace {

using Broken = std::optional<std::string>;

/// Names that models make up, each in place of the one that exists.
Broken invented_name(std::string_view source, std::uint64_t pick) {
  constexpr std::array<Swap, 17> kInvented = {{{"nisa.nc_matmul", "nl.dot"},
                                               {"nl.matmul", "nl.dot"},
                                               {"nl.maximum", "nl.clip"},
                                               {"nl.minimum", "nl.clamp"},
                                               {"nl.sum", "nl.reduce_sum"},
                                               {"nl.mean", "nl.reduce_mean"},
                                               {"nl.max", "nl.reduce_max"},
                                               {"nl.multiply", "nl.mul"},
                                               {"nl.subtract", "nl.sub"},
                                               {"nl.rsqrt", "nl.inv_sqrt"},
                                               {"nl.square", "nl.pow"},
                                               {"nl.reciprocal", "nl.inverse"},
                                               {"nl.load_transpose2d", "nl.load_t"},
                                               {"nisa.nc_transpose", "nl.transpose_tile"},
                                               {"nl.tanh", "nl.tanh_approx"},
                                               {"nisa.activation", "nisa.act"},
                                               {"nl.divide", "nl.div"}}};
  return swap_one(source, kInvented, pick);
}

Broken wrong_keyword(std::string_view source, std::uint64_t pick) {
  constexpr std::array<Swap, 4> kKeywords = {
      {{"keepdims=", "keepdim="}, {"axis=", "dim="}, {"buffer=", "memory="}, {"mask=", "where="}}};
  return swap_one(source, kKeywords, pick);
}

/// The import of a later era of the SDK.
Broken later_era(std::string_view source, std::uint64_t) {
  if (auto broken = swap_one(source, std::array<Swap, 1>{{{"from neuronxcc import nki", "import nki"}}}, 0))
    return broken;
  return swap_one(source, std::array<Swap, 1>{{{"import neuronxcc.nki as nki", "import nki"}}}, 0);
}

Broken no_decorator(std::string_view source, std::uint64_t) {
  const Editable edit(source);
  const auto places = edit.places("@nki.jit");
  if (places.empty()) return std::nullopt;
  const std::size_t end = source.find('\n', places.front());
  return edit.replaced(places.front(), end == std::string_view::npos ? 8 : end + 1 - places.front(), "");
}

/// A loop header that lost its colon.
Broken syntax_slip(std::string_view source, std::uint64_t pick) {
  const Editable edit(source);
  std::vector<std::size_t> colons;
  for (const std::size_t at : edit.places("for ")) {
    const std::size_t end = source.find('\n', at);
    if (end != std::string_view::npos && source[end - 1] == ':') colons.push_back(end - 1);
  }
  if (colons.empty()) return std::nullopt;
  return edit.replaced(colons[pick % colons.size()], 1, "");
}

/// A dtype that the hardware does not have.
Broken wide_dtype(std::string_view source, std::uint64_t pick) {
  return swap_one(source, std::array<Swap, 1>{{{"nl.float32", "nl.float64"}}}, pick);
}

}  // namespace

std::vector<Fault> name_faults() {
  return {
      {"invented_name",
       {Code::unknown_api},
       {"no attribute", "no such name", "does not exist", "not exist", "unknown name"},
       "I called a function that NKI does not have",
       invented_name},
      {"wrong_keyword",
       {Code::bad_signature},
       {"keyword", "unexpected argument", "signature"},
       "I passed a keyword that the function does not take",
       wrong_keyword},
      {"later_era",
       {Code::wrong_api_era, Code::py_syntax},
       {"no module named", "import", "neuronxcc"},
       "I imported nki as a later SDK does; 2.24 has it under neuronxcc",
       later_era},
      {"no_decorator", {Code::no_kernel}, {"nki.jit", "no kernel"}, "I left out the @nki.jit decorator", no_decorator},
      {"syntax_slip",
       {Code::py_syntax},
       {"expected ':'", "invalid syntax", "syntaxerror"},
       "I dropped the colon of a loop header",
       syntax_slip},
      {"wide_dtype",
       {Code::dtype, Code::unknown_api},
       {"float64"},
       "I asked for float64, which the hardware lacks",
       wide_dtype},
  };
}

}  // namespace nkigrid::model
