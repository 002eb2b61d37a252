#include <algorithm>
#include <cstring>

#include "runner/log/hdf5.hpp"
#include "runner/log/hdf5_call.hpp"
#include "runner/log/hdf5_chunks.hpp"

namespace nkigrid::log::h5 {
namespace {

// A segment has 131,072 turns at most, and words of some dozens of bytes. What claims more is damaged or made to fill
// memory: zeros that were deflated take a thousandth of it on disk.
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostColumnBytes = std::uint64_t{128} << 20;
constexpr std::size_t kMostWordBytes = std::size_t{1} << 20;  // of an attribute
constexpr std::size_t kTextCacheBytes = 16 << 20;

/// A name may lead elsewhere: by a soft link, or by an external one into any file of whoever reads.
void require_own(Hid where, const std::string& name) {
  H5L_info_t link = {};
  had(H5Lget_info(where, name.c_str(), &link, H5P_DEFAULT), "find", name);
  if (link.type != H5L_TYPE_HARD)
    throw Error(ErrorCode::corrupt, fmt::format("'{}' is a link (what a segment holds lies in it)", name));
}

Dataset open_own_dataset(Hid where, const std::string& name) {
  require_own(where, name);
  return Dataset(had(H5Dopen2(where, name.c_str(), H5P_DEFAULT), "open dataset", name));
}

Attribute open_scalar(Holder holder, const std::string& name) {
  Attribute attribute(had(H5Aopen(holder.get(), name.c_str(), H5P_DEFAULT), "open attribute", name));
  const Space space(had(H5Aget_space(attribute.get()), "read space of", name));
  if (H5Sget_simple_extent_npoints(space.get()) != 1)
    throw Error(ErrorCode::corrupt, fmt::format("attribute '{}' is no scalar", name));
  return attribute;
}

/// @returns all values of a column. @throws Error{corrupt} where it has not the rows it should have, or more than
/// memory should hold
std::string read_column(const Chunks& chunks, const std::string& name, std::uint64_t rows, std::vector<bool>* lost) {
  if (chunks.rows() != rows)
    throw Error(ErrorCode::corrupt,
                fmt::format("dataset '{}' has {} rows where its group has {}", name, chunks.rows(), rows));
  const auto width = chunks.width();
  if (rows > kMostRows || rows > kMostColumnBytes / width)
    throw Error(ErrorCode::corrupt, fmt::format("dataset '{}' claims {} rows of {} bytes", name, rows, width));
  std::string values(rows * width, '\0');
  for (std::uint64_t at = 0; at < rows; at += chunks.rows_a_chunk()) {
    const auto count = std::min(chunks.rows_a_chunk(), rows - at);
    try {
      chunks.read_rows(at, count, values.data() + at * width);
    } catch (const Error&) {
      if (lost == nullptr) throw;
      std::fill_n(lost->begin() + static_cast<std::ptrdiff_t>(at), count, true);
    }
  }
  return values;
}

}  // namespace

File open_file(const std::filesystem::path& path) {
  const Call call;
  const auto access = file_access();
  return File(had(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), "open segment", path.native()));
}
Group open_group(const File& file, const std::string& name) {
  const Call call;
  if (name != "/") require_own(file.get(), name);
  return Group(had(H5Gopen2(file.get(), name.c_str(), H5P_DEFAULT), "open group", name));
}

bool has_attribute(Holder holder, const std::string& name) {
  const Call call;
  return had(H5Aexists(holder.get(), name.c_str()), "look for attribute", name) > 0;
}
std::string read_word_attribute(Holder holder, const std::string& name) {
  const Call call;
  const auto attribute = open_scalar(holder, name);
  const Type type(had(H5Aget_type(attribute.get()), "read type of", name));
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0) {
    throw Error(ErrorCode::corrupt, fmt::format("attribute '{}' is no fixed-length string", name));
  }
  const auto size = H5Tget_size(type.get());
  if (size > kMostWordBytes) throw Error(ErrorCode::corrupt, fmt::format("attribute '{}' claims {} bytes", name, size));
  std::string word(size, '\0');
  had(H5Aread(attribute.get(), type.get(), word.data()), "read attribute", name);
  word.resize(word.find_last_not_of('\0') + 1);
  return word;
}
std::uint64_t read_number_attribute(Holder holder, const std::string& name) {
  const Call call;
  const auto attribute = open_scalar(holder, name);
  std::uint64_t value = 0;
  had(H5Aread(attribute.get(), H5T_NATIVE_UINT64, &value), "read attribute", name);
  return value;
}

std::uint64_t rows_of(const Group& group, const std::string& column) {
  const Call call;
  const auto dataset = open_own_dataset(group.get(), column);
  return Chunks(dataset, column).rows();
}

std::string_view Words::at(std::uint64_t row) const noexcept {
  const char* word = packed.data() + row * width;
  return {word, ::strnlen(word, width)};
}

std::string read_numbers(const Group& group, const std::string& name, Number type, std::uint64_t rows,
                         std::vector<bool>* lost) {
  const Call call;
  const auto dataset = open_own_dataset(group.get(), name);
  const Type stored(had(H5Dget_type(dataset.get()), "read type of", name));
  if (had(H5Tequal(stored.get(), native(type)), "compare type of", name) == 0)
    throw Error(ErrorCode::corrupt, fmt::format("dataset '{}' holds values of another type", name));
  return read_column(Chunks(dataset, name), name, rows, lost);
}

Words read_words(const Group& group, const std::string& name, std::uint64_t rows, std::vector<bool>* lost) {
  const Call call;
  const auto dataset = open_own_dataset(group.get(), name);
  const Type stored(had(H5Dget_type(dataset.get()), "read type of", name));
  if (H5Tget_class(stored.get()) != H5T_STRING || H5Tis_variable_str(stored.get()) != 0)
    throw Error(ErrorCode::corrupt, fmt::format("dataset '{}' holds no fixed-length strings", name));
  const Chunks chunks(dataset, name);
  return {.width = chunks.width(), .packed = read_column(chunks, name, rows, lost)};
}

Bytes::Bytes(const Group& group, const std::string& name) {
  const Call call;
  dataset_ = open_own_dataset(group.get(), name);
  chunks_ = std::make_unique<Chunks>(dataset_, name);
  if (chunks_->width() != 1) throw Error(ErrorCode::corrupt, fmt::format("dataset '{}' holds no bytes", name));
}
Bytes::Bytes(Bytes&&) noexcept = default;
Bytes::~Bytes() = default;

/// The last ones stay: texts stand in the order in which they are read, but those that repeat.
const std::string& Bytes::chunk(std::uint64_t index) {
  const auto known = std::find_if(recent_.begin(), recent_.end(), [&](const auto& one) { return one.first == index; });
  if (known != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, known);
    return recent_.front().second;
  }
  recent_.emplace_front(index, chunks_->read(index));
  if (recent_.size() > std::max<std::size_t>(1, kTextCacheBytes / chunks_->rows_a_chunk())) recent_.pop_back();
  return recent_.front().second;
}

std::string Bytes::read(std::uint64_t at, std::uint64_t size) {
  const auto length = chunks_->rows();
  if (at > length || size > length - at) {
    throw Error(ErrorCode::corrupt,
                fmt::format("text of {} bytes at {} lies outside of the {} bytes of 'text'", size, at, length));
  }
  std::string bytes;
  while (bytes.size() < size) {
    const auto here = at + bytes.size();
    bytes += std::string_view(chunk(here / chunks_->rows_a_chunk()))
                 .substr(here % chunks_->rows_a_chunk(), size - bytes.size());
  }
  return bytes;
}

}  // namespace nkigrid::log::h5
