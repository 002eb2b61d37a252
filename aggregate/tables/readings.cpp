#include <algorithm>

#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

/// How often the replies of a cell were read in one way that is not the plain one.
struct ReadingRow {
  std::string cell;
  std::uint64_t replies = 0;  ///< of the cell, that count
  std::string reading;        ///< a flag of turns (docs/formats/transcript.md); "": none of them
  std::uint64_t times = 0;
};

Readings readings_of(const Evidence& evidence, const CellScores& cell) {
  Readings sum;
  const std::size_t tasks = evidence.run->plan.tasks.size();
  for (const auto& task : cell.tasks) sum += evidence.turns->readings[cell.cell * tasks + task.task];
  return sum;
}

// A row a flag that was seen in any cell, so that cells can be compared; a cell whose every reply was plain has one.
std::vector<ReadingRow> make_readings(const Evidence& evidence) {
  std::vector<ReadingRow> rows;
  if (!evidence.turns) return rows;
  for (const auto& cell : evidence.scores) {
    const auto readings = readings_of(evidence, cell);
    const auto& name = evidence.cell(cell).id;
    if (readings.words.empty()) rows.push_back({name, readings.replies, "", 0});
    for (const auto& [word, times] : readings.words) rows.push_back({name, readings.replies, word, times});
  }
  return rows;
}

Sheet readings_sheet(const Evidence& evidence) {
  Sheet sheet{.caption = caption_of_counts(evidence, "replies that were not read as they stood, or said nothing new"),
              .columns = data_columns({"cell", "#replies", "reading", "#times"}),
              .notes = {"call_recovered: a tool call that the server left in the text; extract: code found in a fence; "
                        "same_kernel: submitted before, answered without the device; usage=missing: tokens are upper "
                        "estimates; left_out: a parameter that the server refuses"}};
  for (const auto& row : evidence.once(make_readings))
    sheet.rows.push_back({row.cell, std::to_string(row.replies), row.reading, std::to_string(row.times)});
  return sheet;
}

std::string why_no_readings(const Evidence&) { return "the turns were not read"; }

}  // namespace

Table readings_table() {
  return {.name = "readings",
          .display = readings_sheet,
          .data = readings_sheet,
          .why_empty = why_no_readings,
          .needs_turns = true};
}

}  // namespace nkigrid::aggregate
