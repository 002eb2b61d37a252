#include "runner/log/reader.hpp"

#include <fmt/core.h>

#include <utility>

#include "runner/log/walk.hpp"

namespace nkigrid::log {
namespace {

template <class Fn, class Entry>
void tell(const Fn& visit, const Entry& entry) {
  if (visit) visit(entry);
}

}  // namespace

void read_log(const RunLog& log, Texts texts, const LogVisitor& visitor) {
  const Selection selection{.with_texts = texts == Texts::load,
                            .begins = static_cast<bool>(visitor.begin),
                            .replies = static_cast<bool>(visitor.reply),
                            .turns = static_cast<bool>(visitor.turn),
                            .ends = static_cast<bool>(visitor.end)};
  LogWalk walk(log, [&](const LeftOut& file) {
    refuse_the_unclear(file);
    tell(visitor.left_out, file);
  });
  for (const auto& stem : stems_of(log.folder)) {
    const auto report = walk.read(stem, selection, [&](Record&& record) {
      if (const auto* begin = std::get_if<Begin>(&record))
        tell(visitor.begin, *begin);
      else if (const auto* reply = std::get_if<Reply>(&record))
        tell(visitor.reply, *reply);
      else if (const auto* turn = std::get_if<Turn>(&record))
        tell(visitor.turn, *turn);
      else
        tell(visitor.end, std::get<End>(record));
    });
    for (const auto& segment : report.segments) tell(visitor.head, segment.header);
    if (report.journal) tell(visitor.head, report.journal->header);
    // What a segment tells of damage was known when it was sealed, and its journal set aside.
    if (!report.journal || !report.journal->damaged() || !visitor.warning) continue;
    visitor.warning(fmt::format(
        "'{}' is damaged: {} bytes skipped, {} records missing{}; `nkigrid seal RUN` saves the rest and sets it aside",
        (log.folder / (stem.name + ".journal")).native(), report.journal->damaged_bytes,
        report.journal->missing_records,
        report.journal->unproven > 0
            ? fmt::format(", {} records not sealed by the key of this run", report.journal->unproven)
            : std::string()));
  }
}

}  // namespace nkigrid::log
