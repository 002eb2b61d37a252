#include "exports/zip.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "jobs/base/error.hpp"

namespace nkigrid::exports {

namespace fs = std::filesystem;

struct ZipWriter::State {
  fs::path path, beside;
  archive* zip = nullptr;
  bool closed = false;

  void check(int result, std::string_view what) const {
    if (result == ARCHIVE_OK) return;
    throw Error(ErrorCode::io, fmt::format("cannot {} '{}' ({}); look at the disk behind it", what, path.native(),
                                           archive_error_string(zip)));
  }
};

ZipWriter::ZipWriter(const fs::path& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->beside = path.parent_path() / fmt::format(".{}.part", path.filename().native());
  state_->zip = archive_write_new();
  state_->check(archive_write_set_format_zip(state_->zip), "begin");
  state_->check(archive_write_open_filename(state_->zip, state_->beside.c_str()), "create");
}

ZipWriter::~ZipWriter() {
  archive_write_free(state_->zip);
  std::error_code ignored;
  if (!state_->closed) fs::remove(state_->beside, ignored);
}

void ZipWriter::add(const std::string& name, std::string_view bytes) {
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(), archive_entry_free);
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 315532800, 0);  // 1980-01-01, where the format's time begins
  state_->check(archive_write_header(state_->zip, entry.get()), "write");
  if (archive_write_data(state_->zip, bytes.data(), bytes.size()) != static_cast<la_ssize_t>(bytes.size()))
    state_->check(ARCHIVE_FATAL, "write");
}

void ZipWriter::close() {
  state_->check(archive_write_close(state_->zip), "finish");
  std::error_code error;
  fs::rename(state_->beside, state_->path, error);
  if (error) throw_errno(error.value(), "rename", state_->path.native());
  state_->closed = true;
}

}  // namespace nkigrid::exports
