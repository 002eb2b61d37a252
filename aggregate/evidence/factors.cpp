#include "aggregate/evidence/factors.hpp"

namespace nkigrid::aggregate {
namespace {

std::string with_run(std::string context, const jobs::CellSpec& cell) {
  const auto run = run_of(cell.id);
  return run.empty() ? context : context + "@" + std::string(run);
}

}  // namespace

const std::string& factor_value(const jobs::CellSpec& cell, std::string_view factor) noexcept {
  return factor == "model" ? cell.model : factor == "mode" ? cell.mode : cell.prompt;
}

std::string_view run_of(std::string_view cell) noexcept {
  const auto at = cell.find('@');
  return at == std::string_view::npos ? std::string_view{} : cell.substr(at + 1);
}

std::string_view plain_cell(std::string_view cell) noexcept { return cell.substr(0, cell.find('@')); }

std::string context_of(const jobs::CellSpec& cell, std::string_view factor) {
  std::string context;
  for (const auto* other : kFactors) {
    if (other != factor) context += (context.empty() ? "" : ".") + factor_value(cell, other);
  }
  return with_run(std::move(context), cell);
}

std::string context_of(const jobs::CellSpec& cell, std::pair<std::string_view, std::string_view> factors) {
  std::string context;
  for (const auto* other : kFactors) {
    if (other != factors.first && other != factors.second) context = factor_value(cell, other);
  }
  return with_run(std::move(context), cell);
}

}  // namespace nkigrid::aggregate
