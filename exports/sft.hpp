#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exports/lesson.hpp"
#include "exports/story.hpp"

namespace nkigrid::exports {

/// Whose format the rows have: docs/formats/exports.md.
enum class SftForm : std::uint8_t { openai, trl, sharegpt };
enum class ArgumentsAs : std::uint8_t { string, object };

struct SftOptions {
  SftForm form = SftForm::openai;
  ArgumentsAs arguments = ArgumentsAs::string;
  LessonEnd end = LessonEnd::last_turn;
  bool passed_only = false;
  bool once = false;                  ///< of rows that say the same, the first
  std::vector<std::string> held_out;  ///< tasks, or patterns of them, that no row may be of
};

/// What became of the episodes.
struct SftCounts {
  std::uint64_t episodes = 0, rows = 0;
  std::uint64_t held_out = 0, outstanding = 0, damaged = 0, not_passed = 0;
  std::uint64_t nothing_to_learn = 0;  ///< no turn of them trains
  std::uint64_t repeated = 0;
  std::uint64_t turns_left_out = 0;
  std::set<std::string> held_out_tasks;
};

/// Turns stories into rows of a training set, a JSON object a line.
class SftWriter {
 public:
  using Write = std::function<void(std::string_view)>;
  /// @param run outlives this
  SftWriter(const jobs::Run& run, SftOptions options, Write write);
  void add(const Story& story);
  const SftCounts& counts() const noexcept { return counts_; }

 private:
  bool is_wanted(const Story& story, const std::string& task);

  const jobs::Run& run_;
  SftOptions options_;
  Write write_;
  SftCounts counts_;
  std::set<std::string> seen_;  ///< hashes of rows
};

/// One sentence a count that is not 0, for people.
std::vector<std::string> describe(const SftCounts& counts);

}  // namespace nkigrid::exports
