#include "runner/log/segment_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "jobs/base/error.hpp"
#include "runner/log/columns.hpp"
#include "runner/log/hdf5.hpp"
#include "runner/log/rows.hpp"

namespace nkigrid::log {
namespace {

constexpr std::uint64_t kVersion = 1;

/// One group, its columns loaded.
template <class Row>
class Table {
 public:
  Table(const h5::File& file, const char* name, bool with_texts)
      : group_(h5::open_group(file, name)), reader_(group_, h5::rows_of(group_, "episode"), with_texts) {
    Row any;
    columns(any, reader_);
  }
  std::uint64_t rows() const noexcept { return reader_.rows(); }
  Row at(std::uint64_t i) {
    Row row;
    reader_.begin_row(i);
    columns(row, reader_);
    return row;
  }

 private:
  h5::Group group_;
  ColumnReader reader_;
};

SegmentReport read_header(const h5::File& file) {
  SegmentReport report;
  const auto format = h5::read_word_attribute(file, "format");
  const auto version = h5::read_number_attribute(file, "version");
  if (format != "nkigrid-log" || version > kVersion) {
    throw Error(ErrorCode::corrupt,
                fmt::format("is of format '{}' version {} (this nkigrid reads nkigrid-log up to {})", format,
                            version, kVersion));
  }
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
  report.damaged_bytes = h5::read_number_attribute(file, "damaged_bytes");
  report.missing_records = h5::read_number_attribute(file, "missing_records");
  return report;
}

/// Walks the groups' rows in the order of their sequence numbers.
class SegmentWalk {
 public:
  SegmentWalk(const h5::File& file, const Selection& selection) : selection_(selection) {
    if (selection.begins) begins_.emplace(file, "begins", false);
    if (selection.replies || selection.turns) turns_.emplace(file, "turns", selection.with_texts);
    if (selection.ends) episodes_.emplace(file, "episodes", selection.with_texts);
    if (selection.with_texts) text_ = h5::open_dataset(file, "text");
  }

  void run(const std::function<void(std::uint64_t, Record&&)>& visit) {
    for (const auto& place : places()) {
      Record record;
      switch (place.kind) {
        case Kind::begin:
          record = begins_->at(place.row).begin;
          break;
        case Kind::reply:
          record = reply_at(place.row);
          break;
        case Kind::turn:
          record = turn_at(place.row);
          break;
        case Kind::end:
          record = end_at(place.row);
          break;
      }
      if (selects(selection_, record)) visit(place.sequence, std::move(record));
    }
  }

 private:
  enum class Kind : std::uint8_t { begin, reply, turn, end };
  struct Place {
    std::uint64_t sequence, row;
    Kind kind;
  };

  bool wanted(const AttemptId& id) const { return !selection_.wanted || selection_.wanted(id); }

  std::vector<Place> places() {
    std::vector<Place> places;
    const auto add = [&](std::uint64_t sequence, std::uint64_t row, Kind kind) {
      if (sequence > 0) places.push_back({sequence, row, kind});
    };
    for (std::uint64_t i = 0; begins_ && i < begins_->rows(); ++i) add(begins_->at(i).seq, i, Kind::begin);
    for (std::uint64_t i = 0; turns_ && i < turns_->rows(); ++i) {
      const auto row = turns_->at(i);
      if (!wanted(row.reply.id)) continue;
      if (selection_.replies) add(row.reply_seq, i, Kind::reply);
      if (selection_.turns) add(row.turn_seq, i, Kind::turn);
    }
    for (std::uint64_t i = 0; episodes_ && i < episodes_->rows(); ++i)
      add(episodes_->at(i).seq, i, Kind::end);
    std::sort(places.begin(), places.end(),
              [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
    return places;
  }

  std::string text(const TextRef& ref) const {
    return selection_.with_texts ? h5::read_bytes(text_, ref.offset, ref.length) : std::string();
  }

  Reply reply_at(std::uint64_t i) {
    auto row = turns_->at(i);
    row.reply.request = text(row.request);
    row.reply.reply = text(row.reply_text);
    row.reply.raw = text(row.raw);
    return std::move(row.reply);
  }
  Turn turn_at(std::uint64_t i) {
    auto row = turns_->at(i);
    row.turn.id = std::move(row.reply.id);
    row.turn.turn = row.reply.turn;
    row.turn.kernel = text(row.kernel);
    row.turn.tool_output = text(row.tool_output);
    return std::move(row.turn);
  }
  End end_at(std::uint64_t i) {
    auto row = episodes_->at(i);
    row.end.reason = text(row.reason);
    return std::move(row.end);
  }

  const Selection& selection_;
  std::optional<Table<BeginRow>> begins_;
  std::optional<Table<TurnRow>> turns_;
  std::optional<Table<EpisodeRow>> episodes_;
  h5::Dataset text_;
};

/// Runs `read` and turns whatever damage it meets into Error{corrupt} that names the file.
template <class Read>
SegmentReport reading(const std::filesystem::path& file, Read read) {
  const auto corrupt = [&](std::string_view why) {
    return Error(ErrorCode::corrupt, fmt::format("segment '{}' cannot be read ({}); move it out of the log folder to go on without it: "
                                              "what it alone held is run again", file.native(), why));
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

}  // namespace

SegmentReport read_segment(const std::filesystem::path& file, const Selection& selection,
                           const std::function<void(std::uint64_t, Record&&)>& visit) {
  struct FromVisitor {  // the visitor's own failure is not the file's fault
    std::exception_ptr error;
  };
  try {
    return reading(file, [&] {
      const auto opened = h5::open_file(file);
      auto report = read_header(opened);
      SegmentWalk(opened, selection).run([&](std::uint64_t sequence, Record&& record) {
        ++report.records;
        try {
          visit(sequence, std::move(record));
        } catch (...) {
          throw FromVisitor{std::current_exception()};
        }
      });
      return report;
    });
  } catch (const FromVisitor& failure) {
    std::rethrow_exception(failure.error);
  }
}

SegmentReport read_segment_header(const std::filesystem::path& file) {
  return reading(file, [&] { return read_header(h5::open_file(file)); });
}

}  // namespace nkigrid::log
