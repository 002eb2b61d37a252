#include "runner/log/same_records.hpp"

#include <string>
#include <unordered_set>
#include <variant>

#include <fmt/core.h>

#include "runner/log/codec.hpp"
#include "runner/log/journal.hpp"
#include "runner/log/segment_reader.hpp"

namespace nkigrid::log {

std::size_t name_of(const Record& record) {
  const auto& id = attempt_of(record);
  std::uint32_t turn = 0;
  if (const auto* reply = std::get_if<Reply>(&record)) turn = reply->turn;
  if (const auto* finished = std::get_if<Turn>(&record)) turn = finished->turn;
  return std::hash<std::string>()(
      fmt::format("{} {} {} {} {}", record.index(), turn, id.attempt, id.key, to_string(id.episode)));
}

std::size_t digest_of(const Record& record) { return std::hash<std::string>()(encode(record)); }

void read_file_records(const SealKey& key, const std::filesystem::path& file,
                       const std::function<void(std::uint64_t, Record&&)>& visit) {
  if (file.extension() == ".journal")
    read_journal(file, visit, key);
  else
    read_segment(file, {}, visit, key);
}

Overlap compare_records(const SealKey& key, const std::filesystem::path& file,
                        const std::vector<std::filesystem::path>& others) {
  std::unordered_set<std::size_t> names, digests;
  for (const auto& other : others) {
    read_file_records(key, other, [&](std::uint64_t, Record&& record) {
      names.insert(name_of(record));
      digests.insert(digest_of(record));
    });
  }
  Overlap overlap;
  read_file_records(key, file, [&](std::uint64_t, Record&& record) {
    if (digests.contains(digest_of(record)))
      ++overlap.same;
    else if (names.contains(name_of(record)))
      ++overlap.other;
    else
      ++overlap.alone;
  });
  return overlap;
}

}  // namespace nkigrid::log
