#include "runner/log/reader.hpp"

#include <fmt/core.h>

#include <utility>

#include "runner/log/folder.hpp"

namespace nkigrid::log {
namespace {

template <class Fn, class Entry>
void tell(const Fn& visit, const Entry& entry) {
  if (visit) visit(entry);
}

void tell_damage(const LogVisitor& visitor, const std::string& file, std::uint64_t bytes,
                 std::uint64_t missing) {
  if (!visitor.warning || (bytes == 0 && missing == 0)) return;
  visitor.warning(fmt::format("'{}' is damaged: {} bytes skipped, {} records missing", file, bytes, missing));
}

}  // namespace

void read_log(const std::filesystem::path& folder, Texts texts, const LogVisitor& visitor) {
  const Selection selection{.with_texts = texts == Texts::load,
                            .begins = static_cast<bool>(visitor.begin),
                            .replies = static_cast<bool>(visitor.reply),
                            .turns = static_cast<bool>(visitor.turn),
                            .ends = static_cast<bool>(visitor.end)};
  for (const auto& stem : stems_of(folder)) {
    const auto report = read_stem(folder, stem, selection, [&](Record&& record) {
      if (const auto* begin = std::get_if<Begin>(&record))
        tell(visitor.begin, *begin);
      else if (const auto* reply = std::get_if<Reply>(&record))
        tell(visitor.reply, *reply);
      else if (const auto* turn = std::get_if<Turn>(&record))
        tell(visitor.turn, *turn);
      else
        tell(visitor.end, std::get<End>(record));
    });
    // A journal that is still there tells of its own damage; its segment would repeat it.
    if (report.journal) {
      tell_damage(visitor, (folder / (stem + ".journal")).native(), report.journal->damaged_bytes,
                  report.journal->missing_records);
    } else if (report.segment) {
      tell_damage(visitor, (folder / (stem + ".h5")).native(), report.segment->damaged_bytes,
                  report.segment->missing_records);
    }
  }
}

}  // namespace nkigrid::log
