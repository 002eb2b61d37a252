#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/log/seal_key.hpp"

/// What `nkigrid audit` found, RUN/audit.json (docs/formats/run_directory.md, audit.json).
namespace nkigrid::log {

/// A verdict that did not come again.
struct Disagreement {
  std::string episode, logged, now;
};

struct Audit {
  std::uint64_t scored = 0;     ///< episodes that were scored then
  std::uint64_t checked = 0;    ///< of these, checked anew
  std::uint64_t unchecked = 0;  ///< drawn, but the machinery failed or the log lacks their turns
  std::vector<Disagreement> disagreements;
  std::vector<Disagreement> other_reasons;  ///< the verdict came again, with another code or line
  double at = 0;                            ///< Unix time [s]
  std::string compiler;                     ///< that checked
};

/// Replaces RUN/audit.json, sealed by the run's key where there is one. @throws Error{io}
void write_audit(const std::filesystem::path& run, const SealKey& key, const Audit& audit);

/// @returns nothing where there is none, or none that this key has sealed: then nobody has audited the run. Without a
/// key: only what speaks against the run
std::optional<Audit> read_audit(const std::filesystem::path& run, const SealKey& key);

}  // namespace nkigrid::log
