#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/log/folder.hpp"
#include "runner/log/run_log.hpp"

/// Files of a log folder that do not count, and why.
namespace nkigrid::log {

/// A file of the folder that does not count.
struct LeftOut {
  enum class Why : std::uint8_t {
    foreign,    ///< of another run, or it does not say of which
    unproven,   ///< the run's key has not sealed it, and it may be the run's: damaged, or somebody else's
    copy,       ///< others hold every record of it
    part_copy,  ///< others hold some of it, and it holds more: which is whole is not known
    conflict,   ///< it tells what others tell, differently
    misnamed    ///< it alone holds its records, under a name that is not its own
  };
  Why why = Why::foreign;
  std::filesystem::path file;
  std::string reason;  ///< with the file's name
  std::string advice;  ///< what to do about it

  Stem of;                       ///< the journal that it repeats, contradicts or belongs to, or may belong to
  std::filesystem::path rename;  ///< its own name, if it is misnamed

  std::string text() const { return reason + "; " + advice; }
  /// True when what counts is known without it: a warning. Else nobody can tell: an error.
  bool is_harmless() const noexcept { return why == Why::foreign || why == Why::unproven || why == Why::copy; }
};

/// Why not, of a segment that the run's key has not sealed: it never counts, whatever it says of itself. Ask before
/// anything in it is read. @throws Error{io}
std::optional<LeftOut> why_unsealed(const RunLog& log, const Stem& stem, const std::filesystem::path& segment);

/// A segment's head against the run, its name and the parts before it. @param part its number by its name
/// @returns nothing when it counts
std::optional<LeftOut> why_left_out(const RunLog& log, const Stem& stem, std::uint32_t part,
                                    const std::filesystem::path& file, const SegmentReport& head,
                                    const Coverage& before);

/// The same of a journal. @param head as its reading gives it; nothing: neither head nor begin is whole
std::optional<LeftOut> why_left_out(const RunLog& log, const Stem& stem, const std::filesystem::path& file,
                                    const std::optional<LogHeader>& head);

/// A journal's files that are the run's, but for one. @throws Error{io, corrupt}
std::vector<std::filesystem::path> counted_files(const RunLog& log, const Stem& stem, const std::filesystem::path& but);

/// A file with attempts that journal `other` has: what they share decides. @returns nothing when they share no record
std::optional<LeftOut> judge_overlap(const RunLog& log, const std::filesystem::path& file, const Stem& other);

}  // namespace nkigrid::log
