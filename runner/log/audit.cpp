#include "runner/log/audit.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/json_depth.hpp"

namespace nkigrid::log {
namespace {

using AuditJson = nlohmann::ordered_json;
constexpr const char* kAuditFile = "audit.json";

AuditJson differ_json(const std::vector<Disagreement>& differ) {
  AuditJson list = AuditJson::array();
  for (const auto& [episode, logged, now] : differ)
    list.push_back({{"episode", episode}, {"logged", logged}, {"now", now}});
  return list;
}

std::vector<Disagreement> differ_of(const AuditJson& json) {
  std::vector<Disagreement> differ;
  for (const auto& one : json) differ.push_back({one.at("episode"), one.at("logged"), one.at("now")});
  return differ;
}

AuditJson audit_json(const Audit& audit) {
  return {{"version", 1},
          {"scored", audit.scored},
          {"checked", audit.checked},
          {"unchecked", audit.unchecked},
          {"disagreements", differ_json(audit.disagreements)},
          {"other_reasons", differ_json(audit.other_reasons)},
          {"at", audit.at},
          {"compiler", audit.compiler}};
}

Audit audit_of(const AuditJson& json) {
  return {.scored = json.at("scored"),
          .checked = json.at("checked"),
          .unchecked = json.at("unchecked"),
          .disagreements = differ_of(json.at("disagreements")),
          .other_reasons = differ_of(json.value("other_reasons", AuditJson::array())),
          .at = json.at("at"),
          .compiler = json.at("compiler")};
}

/// Of all but itself.
std::string audit_seal(const SealKey& key, const AuditJson& json) {
  if (!key) return {};
  Sha256 content;
  content.field(json.dump(-1, ' ', false, AuditJson::error_handler_t::replace));
  return to_hex(key.seal("nkigrid audit 1", std::move(content)));
}

}  // namespace

void write_audit(const std::filesystem::path& run, const SealKey& key, const Audit& audit) {
  auto json = audit_json(audit);
  json["seal"] = audit_seal(key, json);
  write_file_atomic(run / kAuditFile, json.dump(1, ' ', false, AuditJson::error_handler_t::replace) + "\n");
}

std::optional<Audit> read_audit(const std::filesystem::path& run, const SealKey& key) {
  if (!has_foreign_file(run, kAuditFile)) return std::nullopt;
  const auto text = read_foreign_file(run, kAuditFile);
  auto json = AuditJson::parse(shallow_part(text), nullptr, false);
  try {
    const std::string seal = json.at("seal");
    json.erase("seal");
    if (json.at("version") != 1 || seal != audit_seal(key, json)) return std::nullopt;
    auto audit = audit_of(json);
    // Without a key nothing proves who wrote it: what speaks for the run is not believed, what speaks against it is
    // told.
    if (!key && audit.disagreements.empty()) return std::nullopt;
    return audit;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace nkigrid::log
