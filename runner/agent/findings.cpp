#include "runner/agent/findings.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "runner/agent/answers.hpp"

namespace nkigrid::agent {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostHints = 32, kMostHintBytes = 1024;

/// JSON has no word for what most often is wrong with a kernel's numbers.
Json any_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json element(const device::Mismatch& mismatch) {
  return {{"output", mismatch.output},
          {"index", mismatch.index},
          {"got", any_number(mismatch.got)},
          {"want", any_number(mismatch.want)}};
}

void add_verify(Json& findings, const device::VerifyResult& verify) {
  for (std::size_t i = 0; i < std::min(verify.hints.size(), kMostHints); ++i)
    findings["hints"].push_back(bounded(verify.hints[i], kMostHintBytes));
  if (verify.elements > 0) {
    findings["elements"] = verify.elements;
    findings["mismatches"] = verify.mismatches;
  }
  if (verify.first) findings["first"] = element(*verify.first);
  if (verify.worst) findings["worst"] = element(*verify.worst);
}

}  // namespace

std::string findings_of(const device::Diagnostic& diagnostic, const device::VerifyResult* verify) {
  Json findings = Json::object();
  if (!diagnostic.message.empty()) findings["message"] = bounded(diagnostic.message);
  if (verify != nullptr) add_verify(findings, *verify);
  return findings.empty() ? "" : findings.dump();
}

}  // namespace nkigrid::agent
