#include "runner/log/salvage.hpp"

#include <system_error>

#include "jobs/base/error.hpp"
#include "runner/log/derived_columns.hpp"
#include "runner/log/framing.hpp"
#include "runner/log/hidden.hpp"
#include "runner/log/journal_reader.hpp"
#include "runner/log/put_right.hpp"
#include "runner/log/rebuild.hpp"
#include "runner/log/same_records.hpp"
#include "runner/log/sealer.hpp"
#include "runner/log/set_aside.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

/// @returns what makes it Error{corrupt}, or ""
template <class Prove>
std::string why_corrupt(Prove prove) {
  try {
    prove();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    return error.what();
  }
  return {};
}

/// @param before of the parts before it; it is added where it is readable
std::string why_unreadable(const fs::path& segment, const SealKey& key, Coverage& before) {
  return why_corrupt([&] {
    const auto head = read_segment_header(segment, key);
    read_segment(
        segment, {}, [&](std::uint64_t sequence, Record&&) { prove_range(segment, head, before, sequence); }, key);
    prove_derived_columns(segment, key);
    before.add(head);
  });
}

/// @returns whether the journal is there and can be read
bool look_at_journal(const fs::path& journal, const SealKey& key, std::vector<Salvaged>& done) {
  std::error_code ignored;
  if (!fs::exists(journal, ignored)) return false;
  const auto why = why_corrupt([&] {
    read_journal(
        journal, [](std::uint64_t, Record&&) {}, key);
  });
  if (!why.empty() && !is_journal_of_other_version(journal)) {
    set_aside(journal, {.reason = why});
    done.push_back({journal, why, true});
  }
  return why.empty();
}

void save_readable(const RunLog& log, const Stem& stem, std::vector<Salvaged>& done) {
  const bool has_journal = look_at_journal(log.folder / (stem.name + ".journal"), log.key, done);
  const auto parts = parts_of(log.folder, stem);
  Coverage before;
  for (std::uint32_t number = 1; number <= parts.size(); ++number) {
    const auto& file = parts[number - 1];
    const auto missing = why_missing(file);
    if (!missing.empty()) before.lose();
    const auto why = missing.empty() ? why_unreadable(file, log.key, before) : missing;
    if (why.empty() || (missing.empty() && is_other_version(file))) continue;
    if (has_journal) {  // it makes this part, and those after it, anew
      set_parts_aside(log.folder, stem, number, why);
      done.push_back({file, why + "; it is made anew from its journal"});
      return;
    }
    const Misfit misfit{.stem = stem, .part = number, .why = why};
    done.push_back(missing.empty() ? rebuild(log, misfit) : replace_missing(log, misfit));
    before.add(read_segment_header(file, log.key));
  }
  if (!has_journal || parts.empty()) return;
  if (const auto why = why_corrupt([&] { prove_nothing_hidden(log, stem); }); !why.empty()) {
    set_parts_aside(log.folder, stem, 1, why);
    done.push_back({parts.front(), why});
  }
}

}  // namespace

std::vector<Salvaged> salvage(const RunLog& log) {
  std::vector<Salvaged> done;
  put_right(log, done);  // first: a part is not missing where only copies come after it
  for (const auto& stem : stems_of(log.folder)) save_readable(log, stem, done);
  put_right(log, done);  // now that all can be read
  return done;
}

}  // namespace nkigrid::log
