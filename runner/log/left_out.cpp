#include "runner/log/left_out.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "jobs/base/error.hpp"
#include "runner/log/front_seal.hpp"
#include "runner/log/journal_reader.hpp"
#include "runner/log/same_records.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSetAside = "`nkigrid seal RUN` sets it aside";

constexpr const char* kSetAsideLost = "`nkigrid seal RUN` sets it aside; what it alone held is run again";

/// What a file that the key did not seal says of whose it is. Nobody proves it: a damaged file of the run's own says
/// what a forged one does.
enum class Says : std::uint8_t { nothing, this_run, another };

/// Whether each of some words stands anywhere in a file (of a gigabyte at most: no segment is as long). No more of it
/// is looked at: it may be made to harm a reader.
class WordsIn {
 public:
  WordsIn(const fs::path& file, const std::vector<std::string>& words) {
    const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) throw_errno(errno, "open", file.native());
    std::string window;
    std::vector<char> piece(kPiece);
    for (std::size_t looked_at = 0; looked_at < kMost; looked_at += kPiece) {
      const auto got = ::read(fd.get(), piece.data(), piece.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw_errno(errno, "read", file.native());
      if (got == 0) return;
      window.erase(0, window.size() - std::min(window.size(), kOverlap))
          .append(piece.data(), static_cast<std::size_t>(got));
      for (const auto& word : words) {
        if (window.find(word) != std::string::npos) found_.insert(word);
      }
    }
  }
  bool has(const std::string& word) const { return found_.contains(word); }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 30, kPiece = std::size_t{1} << 20;
  static constexpr std::size_t kOverlap = 255;  // of a name at most
  std::set<std::string> found_;
};

Says segment_says(const RunLog& log, const Stem& stem, const fs::path& segment) {
  const std::string field = "run_id";  // the attribute's name: a file without it tells nothing
  const WordsIn words(segment, {log.run_id, stem.name, field});
  if (words.has(log.run_id) && words.has(stem.name)) return Says::this_run;
  return words.has(field) ? Says::another : Says::nothing;
}

Says journal_says(const RunLog& log, const Stem& stem, const fs::path& journal) {
  const Fd fd(::open(journal.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw_errno(errno, "open journal", journal.native());
  const auto head = read_journal_head(fd, journal);
  if (!head) return Says::nothing;
  const bool is_own = head->run_id == log.run_id && (head->journal.empty() || head->journal == stem.name);
  return is_own ? Says::this_run : Says::another;
}

LeftOut unsealed(const RunLog& log, const Stem& stem, const fs::path& file) {
  const auto says = file.extension() == ".h5" ? segment_says(log, stem, file) : journal_says(log, stem, file);
  const auto* whose = says == Says::another    ? "another program or run wrote it"
                      : says == Says::this_run ? "it says to be of this run: it is damaged, or somebody else wrote it"
                                               : "nothing in it tells whose it is: a damaged file of this run, or none "
                                                 "of it";
  return {
      .why = says == Says::another ? LeftOut::Why::foreign : LeftOut::Why::unproven,
      .file = file,
      .reason = fmt::format("'{}' is not sealed by the key of this run ({}); it is not counted", file.native(), whose),
      .advice = says == Says::another ? kSetAside : kSetAsideLost,
      .of = stem};
}

std::optional<LeftOut> why_foreign(const RunLog& log, const fs::path& file, const std::optional<std::string>& run_id) {
  if (run_id == log.run_id) return std::nullopt;
  const auto whose = run_id && !run_id->empty() ? fmt::format("belongs to run '{}' and not to this one", *run_id)
                                                : std::string("does not say of which run it is");
  return LeftOut{.why = LeftOut::Why::foreign,
                 .file = file,
                 .reason = fmt::format("'{}' {} ('{}'): it is not counted", file.native(), whose, log.run_id),
                 .advice = kSetAside};
}

bool is_of_run(const RunLog& log, const fs::path& file) {
  if (file.extension() == ".h5")
    return is_sealed_by(log.key, file) && read_segment_header(file, log.key).header.run_id == log.run_id;
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const auto head = fd ? read_journal_head(fd, file, log.key) : std::nullopt;
  return head && head->run_id == log.run_id;
}

constexpr std::size_t kLongestName = 200;  // of a journal; a file system's limit is 255 with the part and the ending
/// A part far behind those that are there is not given its name: `seal` would make up each that is missing before it.
constexpr std::uint32_t kMostGap = 64;

/// Whether a writer can have given this name: it becomes a path.
bool is_of_a_writer(std::string_view name) {
  const auto is_legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), is_legal);
}

LeftOut impossible(const fs::path& file, std::string_view what) {
  return {.why = LeftOut::Why::foreign,
          .file = file,
          .reason = fmt::format("'{}' says to be of a journal with {}, which no writer gives: it is not counted",
                                file.native(), what),
          .advice = kSetAside};
}

LeftOut misnamed(const fs::path& file, const Stem& of, const fs::path& name, std::string_view why) {
  const bool is_free = !name.empty() && !fs::exists(name);
  return {.why = LeftOut::Why::misnamed,
          .file = file,
          .reason = fmt::format("'{}' cannot be counted under this name ({})", file.native(), why),
          .advice = is_free ? fmt::format("`nkigrid seal RUN` names it '{}'", name.filename().native())
                            : std::string("give it its own name"),
          .of = of,
          .rename = is_free ? name : fs::path()};
}

}  // namespace

std::vector<fs::path> counted_files(const RunLog& log, const Stem& stem, const fs::path& but) {
  auto files = parts_of(log.folder, stem);
  files.push_back(log.folder / (stem.name + ".journal"));
  std::error_code ignored;
  std::erase_if(files,
                [&](const auto& file) { return file == but || !fs::exists(file, ignored) || !is_of_run(log, file); });
  return files;
}

std::optional<LeftOut> judge_overlap(const RunLog& log, const fs::path& file, const Stem& other) {
  const auto overlap = compare_records(log.key, file, counted_files(log, other, file));
  if (overlap.same == 0 && overlap.other == 0) return std::nullopt;
  const auto& name = file.native();
  if (overlap.other > 0)
    return LeftOut{.why = LeftOut::Why::conflict,
                   .file = file,
                   .reason = fmt::format("'{}' and the files of '{}' tell {} records differently, and which are true "
                                         "cannot be told",
                                         name, other.name, overlap.other),
                   .advice =
                       "move the one that you do not believe out of the folder; `nkigrid resume` runs again what "
                       "it alone held",
                   .of = other};
  if (overlap.alone > 0)
    return LeftOut{.why = LeftOut::Why::part_copy,
                   .file = file,
                   .reason = fmt::format("'{}' holds {} records that the files of '{}' hold too, and {} more", name,
                                         overlap.same, other.name, overlap.alone),
                   .advice = "`nkigrid seal RUN` keeps what is whole",
                   .of = other};
  return LeftOut{
      .why = LeftOut::Why::copy,
      .file = file,
      .reason = fmt::format("'{}' is a copy (the files of '{}' hold each of its {} records): they are counted once",
                            name, other.name, overlap.same),
      .advice = kSetAside,
      .of = other};
}

std::optional<LeftOut> why_unsealed(const RunLog& log, const Stem& stem, const fs::path& segment) {
  return is_sealed_by(log.key, segment) ? std::nullopt : std::optional(unsealed(log, stem, segment));
}

std::optional<LeftOut> why_left_out(const RunLog& log, const Stem& stem, std::uint32_t part, const fs::path& file,
                                    const SegmentReport& head, const Coverage& before) {
  if (auto foreign = why_foreign(log, file, head.header.run_id)) return foreign;
  if (!is_of_a_writer(head.journal)) return impossible(file, "a name");
  std::string why;
  if (head.journal != stem.name)
    why = fmt::format("it is of journal '{}'", head.journal);
  else if (head.part != 0 && head.part != part)
    why = fmt::format("it is part {} of its journal", head.part);
  else if (!before.is_continued_by(head))
    why = fmt::format("its records {} to {} do not follow those of the part before, to {}", head.seq_first,
                      head.seq_last, before.last());
  else if (!before.is_sealed_after(head))
    why = "it was sealed to follow another part than the one before it";
  if (why.empty()) return std::nullopt;
  const auto of = stem_of(log.folder, head.journal);
  if (auto overlap = judge_overlap(log, file, of)) return overlap;
  const auto own_part = head.part != 0 ? head.part : head.journal != stem.name ? of.parts + 1 : 0;
  if (own_part > of.parts + kMostGap) return impossible(file, "a number of parts");
  return misnamed(file, of, own_part == 0 ? fs::path() : part_path(log.folder, head.journal, own_part), why);
}

std::optional<LeftOut> why_left_out(const RunLog& log, const Stem& stem, const fs::path& file,
                                    const std::optional<LogHeader>& head) {
  if (log.key && !head) return unsealed(log, stem, file);
  if (auto foreign = why_foreign(log, file, head ? std::optional(head->run_id) : std::nullopt)) return foreign;
  if (head->journal.empty() || head->journal == stem.name) return std::nullopt;
  if (!is_of_a_writer(head->journal)) return impossible(file, "a name");
  const auto of = stem_of(log.folder, head->journal);
  if (auto overlap = judge_overlap(log, file, of)) return overlap;
  return misnamed(file, of, log.folder / (head->journal + ".journal"),
                  fmt::format("it is journal '{}'", head->journal));
}

}  // namespace nkigrid::log
