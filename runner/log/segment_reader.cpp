#include "runner/log/segment_reader.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/bytes.hpp"
#include "runner/log/columns.hpp"
#include "runner/log/contradiction.hpp"
#include "runner/log/front_seal.hpp"
#include "runner/log/hdf5.hpp"
#include "runner/log/rows.hpp"
#include "runner/log/segment_table.hpp"

namespace nkigrid::log {
namespace {

bool is_read(std::uint64_t version) noexcept { return version >= kFirstSegmentVersion && version <= kSegmentVersion; }

/// The head's second copy, of what a file must say before it counts: for one whose attributes are damaged.
void read_whose(const h5::File& file, SegmentReport& report) {
  const auto attempts = h5::open_group(file, "attempts");
  report.header.run_id = h5::read_word_attribute(attempts, "run_id");
  report.journal = h5::read_word_attribute(attempts, "journal");
  report.part = h5::read_number_attribute(attempts, "part");
}

SegmentReport read_header(const h5::File& file) {
  SegmentReport report;
  const auto format = h5::read_word_attribute(file, "format");
  const auto version = h5::read_number_attribute(file, "version");
  if (format != "nkigrid-log" || !is_read(version)) {
    throw Error(
        ErrorCode::corrupt,
        fmt::format(
            "is of format '{}' version {} (this nkigrid reads nkigrid-log {} and {}); use the nkigrid that wrote it",
            format, version, kFirstSegmentVersion, kSegmentVersion));
  }
  report.version = version;
  report.part = version < 3 ? 0 : h5::read_number_attribute(file, "part");
  auto& h = report.header;
  h.grid_hash = h5::read_word_attribute(file, "grid_hash");
  h.run_id = h5::read_word_attribute(file, "run_id");
  h.nkigrid_version = h5::read_word_attribute(file, "nkigrid_version");
  h.sdk = h5::read_word_attribute(file, "sdk");
  h.backend = h5::read_word_attribute(file, "backend");
  h.compiler = h5::read_word_attribute(file, "compiler");
  h.host = h5::read_word_attribute(file, "host");
  report.journal = h5::read_word_attribute(file, "journal");
  report.seq_first = h5::read_number_attribute(file, "seq_first");
  report.seq_last = h5::read_number_attribute(file, "seq_last");
  if (report.seq_first > report.seq_last)
    throw Error(ErrorCode::corrupt,
                fmt::format("seq_first {} is above seq_last {}", report.seq_first, report.seq_last));
  report.damaged_bytes = h5::read_number_attribute(file, "damaged_bytes");
  report.missing_records = h5::read_number_attribute(file, "missing_records");
  if (h5::has_attribute(file, "previous")) report.previous = h5::read_word_attribute(file, "previous");
  if (h5::has_attribute(file, "instead_of")) report.instead_of = h5::read_word_attribute(file, "instead_of");
  const auto root = h5::open_group(file, "/");
  const auto count = h5::rows_of(root, "carried");
  const auto numbers = h5::read_numbers(root, "carried", h5::Number::uint64, count);
  for (std::uint64_t i = 0; i < count; ++i) report.carried.push_back(get<std::uint64_t>(numbers, i * 8));
  return report;
}

/// A segment's file as it may be read, and the seal's name.
struct Opened {
  h5::File file;
  std::string seal;
};
Opened open_proven(const std::filesystem::path& name, const SealKey& key) {
  if (!key) return {h5::open_file(name), {}};
  const Fd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw_errno(errno, "open segment", name.native());
  const auto seal = read_front(fd.get(), key, name);
  if (!seal) throw Error(ErrorCode::corrupt, "it is not sealed by the key of this run");
  return {h5::open_sealed(fd, *seal, name), to_hex(seal->mac)};
}

/// As contradiction(), with what only rows have. @returns "" where nothing does
std::string_view contradiction_of(const AttemptRow&) noexcept { return {}; }
std::string_view contradiction_of(const TurnRow& row) noexcept {
  if (row.answered != (row.turn_seq > 0)) return "answered and turn_seq";
  if (row.reply_seq == 0 && row.turn_seq == 0) return "reply_seq and turn_seq";
  if (const auto found = contradiction(row.reply); !found.empty()) return found;
  return contradiction(row.turn);
}
std::string_view contradiction_of(const EpisodeRow& row) noexcept {
  return row.seq == 0 ? "an end and end_seq" : contradiction(row.end);
}

/// Visits the groups' rows.
class SegmentWalk {
 public:
  using Visit = std::function<void(std::uint64_t, Record&&)>;

  SegmentWalk(const h5::File& file, const Selection& selection, const Visit& visit, Damaged damaged)
      : file_(file), selection_(selection), visit_(visit), damaged_(damaged) {}

  void run() {
    if (selection_.with_texts) group("text", [&] { text_.emplace(h5::open_group(file_, "/"), "text"); });
    if (damaged_ == Damaged::lose_rows) find_ended();
    const bool turns = selection_.replies || selection_.turns;
    if (selection_.begins || turns) group("attempts", [&] { walk_attempts(); });
    if (turns) group("turns", [&] { walk_turns(); });
    if (selection_.ends) group("episodes", [&] { walk_episodes(); });
  }

  Salvage lost;  ///< where damage is passed over

 private:
  template <class Walk>
  void group(const char* name, Walk walk) {
    try {
      walk();
    } catch (const Error&) {
      if (damaged_ == Damaged::refuse) throw;
      lost.lost_groups.emplace_back(name);
    }
  }

  template <class Row>
  SegmentTable<Row> open(const char* name) const {
    return SegmentTable<Row>(file_, name, selection_.with_texts, damaged_);
  }

  /// Fills `row` with row `i`. @returns false where damage is passed over and has taken it
  template <class Row>
  bool fill(SegmentTable<Row>& table, std::uint64_t i, Row& row) {
    if (!table.is_lost(i)) {
      table.read(i, row);
      const auto contradicts = contradiction_of(row);
      if (contradicts.empty()) return true;
      if (damaged_ == Damaged::refuse) throw_contradiction(i, contradicts);
    }
    ++lost.lost_rows;
    return false;
  }

  void find_ended() {
    try {
      auto table = open<EpisodeRow>("episodes");
      for (std::uint64_t i = 0; i < table.rows(); ++i) {
        EpisodeRow row;
        if (table.is_lost(i)) continue;
        table.read(i, row);
        if (contradiction_of(row).empty()) ended_.insert(row.end.id);
      }
    } catch (const Error&) {
      // The walk over the ends meets it again and tells it.
    }
  }

  bool wanted(const AttemptId& id) const { return !selection_.wanted || selection_.wanted(id); }

  void walk_attempts() {
    auto table = open<AttemptRow>("attempts");
    attempts_.resize(table.rows());
    for (std::uint64_t i = 0; i < table.rows(); ++i) {
      AttemptRow row;
      if (!fill(table, i, row)) continue;
      attempts_[i] = {row.begin.id, wanted(row.begin.id)};
      if (selection_.begins && row.seq > 0 && attempts_[i].wanted) visit_(row.seq, std::move(row.begin));
    }
  }

  void walk_turns() {
    auto table = open<TurnRow>("turns");
    for (std::uint64_t i = 0; i < table.rows(); ++i) {
      TurnRow row;
      if (!fill(table, i, row)) continue;
      if (row.attempt_row >= attempts_.size()) throw_no_attempt(i, row.attempt_row);
      const auto& attempt = attempts_[row.attempt_row];
      if (!attempt.wanted) {
        lost.lost_rows +=
            damaged_ == Damaged::lose_rows ? 1 : 0;  // everything is wanted then: its attempt's row is lost
        continue;
      }
      const auto lost_texts = lost.lost_texts;
      if (selection_.turns && row.turn_seq > 0) {
        row.turn.id = attempt.id;
        row.turn.turn = row.reply.turn;
        row.turn.kernel = text(row.kernel);
        row.turn.tool_output = text(row.tool_output);
      }
      if (selection_.replies && row.reply_seq > 0) {
        row.reply.id = attempt.id;
        row.reply.request = text(row.request);
        row.reply.reply = text(row.reply_text);
        row.reply.raw = text(row.raw);
      }
      if (lost.lost_texts > lost_texts && !ended_.contains(attempt.id)) continue;
      if (selection_.replies && row.reply_seq > 0) visit_(row.reply_seq, std::move(row.reply));
      if (selection_.turns && row.turn_seq > 0) visit_(row.turn_seq, std::move(row.turn));
    }
  }

  void walk_episodes() {
    auto table = open<EpisodeRow>("episodes");
    for (std::uint64_t i = 0; i < table.rows(); ++i) {
      EpisodeRow row;
      if (!fill(table, i, row)) continue;
      if (!wanted(row.end.id)) continue;
      row.end.reason = text(row.reason);
      row.end.findings = text(row.findings);
      visit_(row.seq, std::move(row.end));
    }
  }

  std::string text(const TextRef& ref) {
    if (!selection_.with_texts || ref.length == 0) return {};
    try {
      if (!text_) throw Error(ErrorCode::corrupt, "there are no texts");
      return text_->read(ref.offset, ref.length);
    } catch (const Error&) {
      if (damaged_ == Damaged::refuse) throw;
      ++lost.lost_texts;
      return {};
    }
  }

  struct Attempt {
    AttemptId id;
    bool wanted = false;  ///< of a row that is lost: nobody's turns
  };

  const h5::File& file_;
  const Selection& selection_;
  const Visit& visit_;
  Damaged damaged_;
  std::vector<Attempt> attempts_;
  std::set<AttemptId> ended_;  ///< where damage is passed over
  std::optional<h5::Bytes> text_;
};

/// Runs `read` and turns whatever damage it meets into Error{corrupt} that names the file.
template <class Read>
auto reading(const std::filesystem::path& file, Read read) {
  const auto corrupt = [&](std::string_view why) {
    return Error(
        ErrorCode::corrupt,
        fmt::format("segment '{}' cannot be read ({}); `nkigrid seal RUN` saves what is whole in it and sets it "
                    "aside; what it alone held is run again",
                    file.native(), why));
  };
  try {
    return read();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::corrupt || error.code() == ErrorCode::usage) throw corrupt(error.what());
    throw;
  } catch (const std::bad_alloc&) {
    throw corrupt("it claims more than memory holds");
  } catch (const std::length_error&) {
    throw corrupt("it claims more than memory holds");
  }
}

/// The visitor's own failure is not the file's fault.
struct FromVisitor {
  std::exception_ptr error;
};

}  // namespace

OpenSegment::OpenSegment(const std::filesystem::path& file, const SealKey& key) : name_(file) {
  reading(file, [&] {
    auto opened = open_proven(file, key);
    file_ = std::move(opened.file);
    head_ = read_header(file_);
    head_.seal = std::move(opened.seal);
  });
}

void OpenSegment::read(const std::function<void(const h5::File&)>& read) const {
  reading(name_, [&] { read(file_); });
}

std::uint64_t version_of(const h5::File& file) {
  try {
    return h5::read_number_attribute(file, "version");
  } catch (const Error&) {
    return kSegmentVersion;
  }
}

void throw_contradiction(std::uint64_t row, std::string_view values) {
  throw Error(ErrorCode::corrupt, fmt::format("row {} contradicts itself: {}", row, values));
}

void throw_no_attempt(std::uint64_t row, std::uint64_t attempt_row) {
  throw Error(ErrorCode::corrupt,
              fmt::format("turn row {} names attempt row {}, which is not there", row, attempt_row));
}

std::uint64_t read_records(const OpenSegment& segment, const Selection& selection,
                           const std::function<void(std::uint64_t, Record&&)>& visit) {
  std::uint64_t records = 0;
  const SegmentWalk::Visit count_and_visit = [&](std::uint64_t sequence, Record&& record) {
    ++records;
    try {
      visit(sequence, std::move(record));
    } catch (...) {
      throw FromVisitor{std::current_exception()};
    }
  };
  try {
    segment.read([&](const h5::File& file) { SegmentWalk(file, selection, count_and_visit, Damaged::refuse).run(); });
  } catch (const FromVisitor& failure) {
    std::rethrow_exception(failure.error);
  }
  return records;
}

SegmentReport read_segment(const std::filesystem::path& file, const Selection& selection,
                           const std::function<void(std::uint64_t, Record&&)>& visit, const SealKey& key) {
  const OpenSegment segment(file, key);
  auto report = segment.head();
  report.records = read_records(segment, selection, visit);
  return report;
}

SegmentReport read_segment_header(const std::filesystem::path& file, const SealKey& key) {
  return OpenSegment(file, key).head();
}

Salvage salvage_segment(const std::filesystem::path& file, const std::function<void(std::uint64_t, Record&&)>& visit,
                        const SealKey& key) {
  return reading(file, [&] {
    const auto [opened, seal] = open_proven(file, key);
    const Selection all;
    SegmentWalk walk(opened, all, visit, Damaged::lose_rows);
    walk.run();
    auto& lost = walk.lost;
    try {
      lost.report = read_header(opened);
      lost.report.seal = seal;
      lost.says_whose = true;
    } catch (const Error&) {
      lost.lost_groups.emplace_back("attributes");
    }
    try {
      if (!lost.says_whose) read_whose(opened, lost.report), lost.says_whose = true;
    } catch (const Error&) {
      // Whoever asks is told that it does not say.
    }
    return std::move(walk.lost);
  });
}

bool is_other_version(const std::filesystem::path& file) {
  try {
    const auto opened = h5::open_file(file);
    return h5::read_word_attribute(opened, "format") == "nkigrid-log" &&
           !is_read(h5::read_number_attribute(opened, "version"));
  } catch (const Error&) {
    return false;
  }
}

}  // namespace nkigrid::log
