#include "cli/export_conversations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "exports/atif.hpp"
#include "exports/inspect.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::cli {
namespace {

namespace fs = std::filesystem;

std::string file_name(const std::string& id) {
  std::string name = id;
  std::replace(name.begin(), name.end(), '/', '~');
  return name;
}

/// A file that is there as a whole or not at all, or standard output.
class Lines {
 public:
  explicit Lines(const fs::path& path) : path_(path) {
    if (path.empty()) return;
    beside_ = path.parent_path() / fmt::format(".{}.part", path.filename().native());
    fs::remove(beside_);  // of an export that died, or a link that somebody put there
    file_ = std::fopen(beside_.c_str(), "wbx");
    if (file_ == nullptr) throw_errno(errno, "create", beside_.native());
  }
  ~Lines() {
    if (file_ == stdout || file_ == nullptr) return;
    std::fclose(file_);
    fs::remove(beside_);
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  void write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) throw_errno(errno, "write", name());
  }
  void close() {
    if (std::fflush(file_) != 0) throw_errno(errno, "write", name());
    if (file_ == stdout) return;
    const int result = std::fclose(file_);
    file_ = nullptr;
    if (result != 0) throw_errno(errno, "close", name());
    fs::rename(beside_, path_);
  }

 private:
  std::string name() const { return path_.empty() ? "standard output" : path_.native(); }

  fs::path path_, beside_;
  std::FILE* file_ = stdout;
};

}  // namespace

std::vector<std::string> export_inspect(const jobs::Run& run, const log::Ledger& ledger,
                                        std::span<const std::uint32_t> places, const fs::path& folder) {
  make_directories(folder);
  std::vector<std::string> said;
  // Places ascend, and episodes of a cell stand side by side.
  while (!places.empty()) {
    const auto cell = run.plan.episodes[places.front()].cell;
    const auto end =
        std::find_if(places.begin(), places.end(), [&](auto place) { return run.plan.episodes[place].cell != cell; });
    const auto own = places.first(static_cast<std::size_t>(end - places.begin()));
    places = places.subspan(own.size());
    const auto path = folder / (run.plan.cells[cell].id + ".eval");
    exports::InspectLog log(run, cell, path);
    exports::visit_stories(run, ledger, own, [&](const auto& story) { log.add(story); });
    log.finish();
    said.push_back(fmt::format("{}: {} samples of {} episodes", path.native(), log.samples(), own.size()));
  }
  return said;
}

std::vector<std::string> export_atif(const jobs::Run& run, const log::Ledger& ledger,
                                     std::span<const std::uint32_t> places, const fs::path& folder) {
  make_directories(folder);
  std::uint64_t written = 0;
  exports::visit_stories(run, ledger, places, [&](const auto& story) {
    if (!story.end || story.turns.empty()) return;
    const auto& planned = run.plan.episodes[story.place];
    const auto own = folder / run.plan.cells[planned.cell].id;
    make_directories(own);
    const auto name = fmt::format("{}~{}.json", file_name(run.plan.tasks[planned.task].id), planned.replicate);
    Lines file(own / name);
    file.write(exports::atif_document(run, story));
    file.close();
    ++written;
  });
  return {fmt::format("{}: {} trajectories of {} episodes", folder.native(), written, places.size())};
}

std::vector<std::string> export_sft(const jobs::Run& run, const log::Ledger& ledger,
                                    std::span<const std::uint32_t> places, const exports::SftOptions& options,
                                    const fs::path& file) {
  Lines lines(file);
  exports::SftWriter writer(run, options, [&](std::string_view row) { lines.write(row); });
  exports::visit_stories(run, ledger, places, [&](const auto& story) { writer.add(story); });
  lines.close();
  return exports::describe(writer.counts());
}

}  // namespace nkigrid::cli
