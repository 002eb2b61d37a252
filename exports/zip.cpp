#include "exports/zip.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <minizip/zip.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "jobs/base/error.hpp"

namespace nkigrid::exports {

namespace fs = std::filesystem;

namespace {

constexpr int kMadeByUnix = 3 << 8 | 20, kMemory = 8;   // APPNOTE 4.4.2; zlib's default
constexpr unsigned long kNamesAreUtf8 = 1 << 11;        // APPNOTE 4.4.4
constexpr unsigned long kFirstDay = 1 << 21 | 1 << 16;  // 1980-01-01, where the format's time begins
constexpr unsigned long kPlainFile = 0100644UL << 16;   // the mode that unzip gives

/// For minizip: a file that was not there. Its own would follow a link that somebody puts in the file's place.
void* open_new(void*, const void* name, int) {
  const int fd = ::open(static_cast<const char*>(name), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  return fd < 0 ? nullptr : ::fdopen(fd, "w+b");
}

}  // namespace

struct ZipWriter::State {
  fs::path path, beside;
  zipFile zip = nullptr;

  void check(int result, std::string_view what) const {
    if (result == ZIP_OK) return;
    throw Error(ErrorCode::io, fmt::format("cannot {} '{}' (minizip's error {}); look at the disk behind it", what,
                                           path.native(), result));
  }
};

ZipWriter::ZipWriter(const fs::path& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->beside = path.parent_path() / fmt::format(".{}.part", path.filename().native());
  fs::remove(state_->beside);  // of an export that died, or a link that somebody put there
  zlib_filefunc64_def files{};
  fill_fopen64_filefunc(&files);
  files.zopen64_file = open_new;
  state_->zip = zipOpen2_64(state_->beside.c_str(), APPEND_STATUS_CREATE, nullptr, &files);
  if (state_->zip == nullptr) state_->check(ZIP_ERRNO, "create");
}

ZipWriter::~ZipWriter() {
  if (state_->zip == nullptr) return;
  zipClose(state_->zip, nullptr);
  std::error_code ignored;
  fs::remove(state_->beside, ignored);
}

void ZipWriter::add(const std::string& name, std::string_view bytes) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  zip_fileinfo info{};
  info.dosDate = kFirstDay;
  info.external_fa = kPlainFile;
  state_->check(zipOpenNewFileInZip4_64(state_->zip, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED,
                                        Z_DEFAULT_COMPRESSION, 0, -MAX_WBITS, kMemory, Z_DEFAULT_STRATEGY, nullptr, 0,
                                        kMadeByUnix, kNamesAreUtf8, bytes.size() > kMost),
                "write");
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kMost, bytes.size())))
    state_->check(zipWriteInFileInZip(state_->zip, bytes.data(), static_cast<unsigned>(std::min(kMost, bytes.size()))),
                  "write");
  state_->check(zipCloseFileInZip(state_->zip), "write");
}

void ZipWriter::close() {
  const int result = zipClose(std::exchange(state_->zip, nullptr), nullptr);
  std::error_code error;
  if (result == ZIP_OK)
    fs::rename(state_->beside, state_->path, error);
  else
    fs::remove(state_->beside, error);
  state_->check(result, "finish");
  if (error) throw_errno(error.value(), "rename", state_->path.native());
}

}  // namespace nkigrid::exports
