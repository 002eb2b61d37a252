#include "runner/log/folder.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "jobs/base/error.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPart = ".part";
constexpr std::uint32_t kMostParts = 1'000'000;  // a name that says more is not one of ours

/// "a.part2" is part 2 of "a".
Stem segment_of(const std::string& name) {
  const auto at = name.rfind(kPart);
  if (at == std::string::npos || at == 0) return {name, 1};
  const auto digits = std::string_view(name).substr(at + kPart.size());
  std::uint32_t part = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), part);
  const bool is_part = error == std::errc{} && end == digits.data() + digits.size() && part >= 2 &&
                       part <= kMostParts && digits.front() != '0';
  return is_part ? Stem{name.substr(0, at), part} : Stem{name, 1};
}

/// A link may stand for a segment on a disk that is not there: taken for an absent file, its episodes would be run
/// again, and paid.
void refuse_link(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_symlink(file, ignored)) return;
  throw Error(
      ErrorCode::corrupt,
      fmt::format("'{}' is a symbolic link (a log holds its files themselves); put the file there, or remove the "
                  "link, and its episodes are run again",
                  file.native()));
}

}  // namespace

std::vector<Stem> stems_of(const fs::path& folder) {
  std::map<std::string, std::uint32_t> parts;
  std::error_code error, ignored;
  fs::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().native();
    const auto ending = entries->path().extension();
    if (name.starts_with('.') || (ending != ".journal" && ending != ".h5")) continue;
    refuse_link(entries->path());
    if (!entries->is_regular_file(ignored)) continue;
    const auto stem =
        ending == ".h5" ? segment_of(entries->path().stem().native()) : Stem{entries->path().stem().native(), 0};
    auto& last = parts[stem.name];
    last = std::max(last, stem.parts);
  }
  if (error) throw_errno(error.value(), "read folder", folder.native());
  std::vector<Stem> stems;
  for (const auto& [name, last] : parts) stems.push_back({name, last});
  return stems;
}

Stem stem_of(const fs::path& folder, const std::string& name) {
  for (auto& stem : stems_of(folder)) {
    if (stem.name == name) return std::move(stem);
  }
  return {name, 0};
}

fs::path part_path(const fs::path& folder, const std::string& stem, std::uint32_t part) {
  return folder / (part == 1 ? stem + ".h5" : fmt::format("{}{}{}.h5", stem, kPart, part));
}

std::vector<fs::path> parts_of(const fs::path& folder, const Stem& stem) {
  std::vector<fs::path> parts;
  std::error_code ignored;
  for (std::uint32_t part = 1; part <= stem.parts || fs::exists(part_path(folder, stem.name, part), ignored); ++part)
    parts.push_back(part_path(folder, stem.name, part));
  return parts;
}

std::string why_missing(const fs::path& part) {
  std::error_code ignored;
  if (fs::exists(part, ignored)) return {};
  return fmt::format(
      "segment '{}' is missing (later parts of the same journal are there); put it back, or `nkigrid seal RUN` goes on "
      "without "
      "it; what it alone held is run again",
      part.native());
}

void Coverage::add(const SegmentReport& part) {
  seal_ = part.seal, instead_of_ = part.instead_of, gap_ = false;
  if (part.seq_last == 0) return;
  if (first_ == 0) first_ = part.seq_first;
  last_ = part.seq_last;
  carried_ = part.carried;
  lost_ = lost_ || part.missing_records > 0;
}

void Coverage::lose() noexcept { lost_ = gap_ = true; }

bool Coverage::covers(std::uint64_t sequence) const noexcept {
  return sequence >= first_ && sequence <= last_ && !carries(sequence);
}

bool Coverage::carries(std::uint64_t sequence) const noexcept {
  return std::binary_search(carried_.begin(), carried_.end(), sequence);
}

bool Coverage::may_carry(std::uint64_t sequence) const noexcept { return lost_ || carries(sequence); }

void prove_range(const fs::path& segment, const SegmentReport& head, const Coverage& before, std::uint64_t sequence) {
  const bool is_early = sequence < head.seq_first;
  if (is_early ? before.may_carry(sequence) : sequence <= head.seq_last) return;
  throw Error(ErrorCode::corrupt,
              fmt::format("segment '{}' holds record {}, and says to hold {} to {}; `nkigrid seal RUN` makes it anew",
                          segment.native(), sequence, head.seq_first, head.seq_last));
}

bool Coverage::is_sealed_after(const SegmentReport& part) const noexcept {
  if (part.seal.empty() || gap_) return true;
  return part.previous == seal_ || (!instead_of_.empty() && part.previous == instead_of_);
}

bool Coverage::is_continued_by(const SegmentReport& part) const noexcept {
  if (last_ == 0 || part.seq_last == 0) return true;  // one of them holds nothing
  const bool only_carried = part.seq_first == last_ && part.seq_last == last_ && !carried_.empty();
  return part.seq_first > last_ || only_carried;
}

}  // namespace nkigrid::log
