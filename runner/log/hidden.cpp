#include "runner/log/hidden.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <system_error>
#include <unordered_set>

#include "jobs/base/error.hpp"
#include "runner/log/walk.hpp"

namespace nkigrid::log {

void prove_nothing_hidden(const RunLog& log, const Stem& stem) {
  const auto journal = log.folder / (stem.name + ".journal");
  std::error_code ignored;
  if (stem.parts == 0 || !std::filesystem::exists(journal, ignored)) return;
  Coverage coverage;
  std::unordered_set<std::uint64_t> held;
  std::uint64_t missing = 0;  // that the segments own to have lost
  for (const auto& part : admitted_parts(log, stem, [](const LeftOut&) {})) {
    const auto report = read_segment(
        part, {.with_texts = false}, [&](std::uint64_t sequence, Record&&) { held.insert(sequence); }, log.key);
    coverage.add(report);
    missing += report.missing_records;
  }
  std::uint64_t hidden = 0;
  read_journal(
      journal,
      [&](std::uint64_t sequence, Record&&) {
        hidden += coverage.covers(sequence) && !held.contains(sequence) ? 1 : 0;
      },
      log.key);
  if (hidden > missing)
    throw Error(ErrorCode::corrupt,
                fmt::format("the segments of journal '{}' say to hold {} records of it that they lack; `nkigrid seal "
                            "RUN` makes them anew",
                            journal.native(), hidden));
}

}  // namespace nkigrid::log
