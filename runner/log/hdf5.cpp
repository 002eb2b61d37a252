#include "runner/log/hdf5.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "runner/log/hdf5_call.hpp"

namespace nkigrid::log::h5 {
namespace {

constexpr hsize_t kColumnChunk = 16384;     // rows
constexpr hsize_t kTextChunk = 256 * 1024;  // bytes; a transcript's texts are a few tens of kB
constexpr std::size_t kTextCache = 16 << 20;
constexpr unsigned kDeflateLevel = 4;
// Of a column: a segment has 131,072 turns and words of a few hundred bytes. What claims more is damaged or made to
// fill memory: zeros that were deflated take a thousandth of it on disk.
constexpr std::uint64_t kMaxColumnBytes = std::uint64_t{512} << 20;
constexpr std::size_t kMaxWordBytes = std::size_t{1} << 20;  // of an attribute

int close_space(Hid id) noexcept { return H5Sclose(id); }
int close_type(Hid id) noexcept { return H5Tclose(id); }
int close_attribute(Hid id) noexcept { return H5Aclose(id); }
using Space = Handle<close_space>;
using Type = Handle<close_type>;
using Attribute = Handle<close_attribute>;

hid_t native(Number type) {
  const std::array<hid_t, 6> types = {H5T_NATIVE_INT8,   H5T_NATIVE_UINT8,  H5T_NATIVE_INT32,
                                      H5T_NATIVE_UINT32, H5T_NATIVE_UINT64, H5T_NATIVE_DOUBLE};
  return types[static_cast<std::size_t>(type)];
}

Type word_type(std::size_t width) {
  Type type(made(H5Tcopy(H5T_C_S1), "make string type", ""));
  made(H5Tset_size(type.get(), std::max<std::size_t>(width, 1)), "size string type", "");
  made(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "pad string type", "");
  made(H5Tset_cset(type.get(), H5T_CSET_UTF8), "mark string type", "");
  return type;
}

Dataset create_dataset(Hid where, const std::string& name, hid_t type, hsize_t rows, hsize_t chunk) {
  const hsize_t most = H5S_UNLIMITED;
  const Space space(made(H5Screate_simple(1, &rows, &most), "make space of", name));
  const List list(made(H5Pcreate(H5P_DATASET_CREATE), "make list of", name));
  made(H5Pset_chunk(list.get(), 1, &chunk), "chunk", name);
  made(H5Pset_shuffle(list.get()), "shuffle", name);
  made(H5Pset_deflate(list.get(), kDeflateLevel), "deflate", name);
  return Dataset(made(H5Dcreate2(where, name.c_str(), type, space.get(), H5P_DEFAULT, list.get(), H5P_DEFAULT),
                      "create dataset", name));
}

void write_column(Hid where, const std::string& name, hid_t type, std::uint64_t rows, const void* values) {
  const hsize_t chunk = std::clamp<hsize_t>(rows, 1, kColumnChunk);
  auto dataset = create_dataset(where, name, type, rows, chunk);
  if (rows > 0) made(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write dataset", name);
  dataset.close();
}

void write_scalar(Hid where, const std::string& name, hid_t type, const void* value) {
  const Space space(made(H5Screate(H5S_SCALAR), "make space of", name));
  const Attribute attribute(
      made(H5Acreate2(where, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), "create attribute", name));
  made(H5Awrite(attribute.get(), type, value), "write attribute", name);
}

std::uint64_t length_of(Hid dataset, std::string_view name) {
  const Space space(had(H5Dget_space(dataset), "read space of", name));
  hsize_t rows = 0;
  if (had(H5Sget_simple_extent_ndims(space.get()), "read rank of", name) != 1) {
    throw Error(ErrorCode::corrupt, fmt::format("dataset '{}' is not one-dimensional", name));
  }
  had(H5Sget_simple_extent_dims(space.get(), &rows, nullptr), "read size of", name);
  return rows;
}

/// A name may lead elsewhere: by a soft link, or by an external one into any file of whoever reads.
void require_own(Hid where, const std::string& name) {
  H5L_info_t link = {};
  had(H5Lget_info(where, name.c_str(), &link, H5P_DEFAULT), "find", name);
  if (link.type != H5L_TYPE_HARD)
    throw Error(ErrorCode::corrupt, fmt::format("'{}' is a link (what a segment holds lies in it)", name));
}

/// Opens a dataset of this very file. Its bytes may lie in others (external storage, virtual datasets), and HDF5 would
/// read those past every seal; in chunks, as we write them all, they never do. Larger chunks than ours would be
/// unpacked anew for each text in them.
Dataset open_own_dataset(Hid where, const std::string& name, hid_t access = H5P_DEFAULT) {
  require_own(where, name);
  Dataset dataset(had(H5Dopen2(where, name.c_str(), access), "open dataset", name));
  const List made_so(had(H5Dget_create_plist(dataset.get()), "read the layout of", name));
  if (H5Pget_layout(made_so.get()) != H5D_CHUNKED)
    throw Error(ErrorCode::corrupt,
                fmt::format("dataset '{}' is not in chunks (its bytes may lie outside of the file)", name));
  hsize_t chunk = 0;
  if (had(H5Pget_chunk(made_so.get(), 1, &chunk), "read the chunks of", name) != 1 || chunk > kTextChunk)
    throw Error(ErrorCode::corrupt,
                fmt::format("dataset '{}' has chunks of {} rows (at most {} in any segment)", name, chunk, kTextChunk));
  return dataset;
}

/// Opens a column and checks that it has the rows it should have and a size that memory can hold.
Dataset open_column(const Group& group, const std::string& name, std::uint64_t rows, std::size_t width) {
  auto dataset = open_own_dataset(group.get(), name);
  const auto length = length_of(dataset.get(), name);
  if (length != rows)
    throw Error(ErrorCode::corrupt, fmt::format("dataset '{}' has {} rows where its group has {}", name, length, rows));
  if (width > 0 && rows > kMaxColumnBytes / width)
    throw Error(ErrorCode::corrupt, fmt::format("dataset '{}' claims {} rows", name, rows));
  return dataset;
}

/// Reads rows [at, at + count) into `to`.
void read_range(const Dataset& dataset, const std::string& name, hid_t type, hsize_t at, hsize_t count, char* to) {
  const Space file_space(had(H5Dget_space(dataset.get()), "read space of", name));
  const Space memory_space(had(H5Screate_simple(1, &count, nullptr), "make space of", name));
  had(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, &at, nullptr, &count, nullptr), "select in", name);
  had(H5Dread(dataset.get(), type, memory_space.get(), file_space.get(), H5P_DEFAULT, to), "read dataset", name);
}

/// Fills `values` with all rows of a column. @param lost see read_numbers()
void read_rows(const Dataset& dataset, const std::string& name, hid_t type, std::size_t width, std::string& values,
               std::vector<bool>* lost) {
  const hsize_t rows = values.size() / width;
  try {
    if (rows > 0) had(H5Dread(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "read dataset", name);
  } catch (const Error&) {
    if (lost == nullptr) throw;
    for (hsize_t at = 0; at < rows; at += kColumnChunk) {
      const auto count = std::min(kColumnChunk, rows - at);
      try {
        read_range(dataset, name, type, at, count, values.data() + at * width);
      } catch (const Error&) {
        std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(at * width), count * width, '\0');
        std::fill_n(lost->begin() + static_cast<std::ptrdiff_t>(at), count, true);
      }
    }
  }
}

void write_word(Hid where, const std::string& name, std::string_view word) {
  const auto type = word_type(word.size());
  const std::string padded = word.empty() ? std::string(1, '\0') : std::string(word);
  write_scalar(where, name, type.get(), padded.data());
}

Attribute open_scalar(Hid where, const std::string& name) {
  Attribute attribute(had(H5Aopen(where, name.c_str(), H5P_DEFAULT), "open attribute", name));
  const Space space(had(H5Aget_space(attribute.get()), "read space of", name));
  if (H5Sget_simple_extent_npoints(space.get()) != 1)
    throw Error(ErrorCode::corrupt, fmt::format("attribute '{}' is no scalar", name));
  return attribute;
}

std::string read_word(Hid where, const std::string& name) {
  const auto attribute = open_scalar(where, name);
  const Type type(had(H5Aget_type(attribute.get()), "read type of", name));
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0) {
    throw Error(ErrorCode::corrupt, fmt::format("attribute '{}' is no fixed-length string", name));
  }
  const auto size = H5Tget_size(type.get());
  if (size > kMaxWordBytes) throw Error(ErrorCode::corrupt, fmt::format("attribute '{}' claims {} bytes", name, size));
  std::string word(size, '\0');
  had(H5Aread(attribute.get(), type.get(), word.data()), "read attribute", name);
  word.resize(word.find_last_not_of('\0') + 1);
  return word;
}

std::uint64_t read_number(Hid where, const std::string& name) {
  const auto attribute = open_scalar(where, name);
  std::uint64_t value = 0;
  had(H5Aread(attribute.get(), H5T_NATIVE_UINT64, &value), "read attribute", name);
  return value;
}

}  // namespace

int close_file(Hid id) noexcept {
  const Call call;
  return H5Fclose(id);
}
int close_group(Hid id) noexcept {
  const Call call;
  return H5Gclose(id);
}
int close_dataset(Hid id) noexcept {
  const Call call;
  return H5Dclose(id);
}
void throw_close_failed() {
  const Call call;
  throw Error(ErrorCode::internal, fmt::format("cannot close an HDF5 object: {}", take_message()));
}

std::size_t size_of(Number type) noexcept {
  constexpr std::array<std::size_t, 6> sizes = {1, 1, 4, 4, 8, 8};
  return sizes[static_cast<std::size_t>(type)];
}

Group create_group(const File& file, const std::string& name) {
  const Call call;
  return Group(made(H5Gcreate2(file.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "create group", name));
}

void write_attribute(const File& file, const std::string& name, std::string_view word) {
  const Call call;
  write_word(file.get(), name, word);
}
void write_attribute(const File& file, const std::string& name, std::uint64_t value) {
  const Call call;
  write_scalar(file.get(), name, H5T_NATIVE_UINT64, &value);
}
void write_attribute(const File& file, const std::string& name, std::int32_t value) {
  const Call call;
  write_scalar(file.get(), name, H5T_NATIVE_INT32, &value);
}
void write_attribute(const Group& group, const std::string& name, std::string_view word) {
  const Call call;
  write_word(group.get(), name, word);
}
void write_attribute(const Group& group, const std::string& name, std::uint64_t value) {
  const Call call;
  write_scalar(group.get(), name, H5T_NATIVE_UINT64, &value);
}

void write_numbers(const Group& group, const std::string& name, Number type, std::uint64_t rows, const void* values) {
  const Call call;
  write_column(group.get(), name, native(type), rows, values);
}
void write_words(const Group& group, const std::string& name, std::uint64_t rows, std::size_t width,
                 const char* packed) {
  const Call call;
  const auto type = word_type(width);
  write_column(group.get(), name, type.get(), rows, packed);
}

Dataset create_bytes(const File& file, const std::string& name) {
  const Call call;
  return create_dataset(file.get(), name, H5T_NATIVE_UINT8, 0, kTextChunk);
}

void append_bytes(const Dataset& dataset, std::uint64_t at, std::string_view bytes) {
  const Call call;
  const hsize_t start = at, count = bytes.size(), size = start + count;
  made(H5Dset_extent(dataset.get(), &size), "grow", "text");
  const Space file_space(made(H5Dget_space(dataset.get()), "get space of", "text"));
  const Space memory_space(made(H5Screate_simple(1, &count, nullptr), "make space of", "text"));
  made(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr), "select in", "text");
  made(H5Dwrite(dataset.get(), H5T_NATIVE_UINT8, memory_space.get(), file_space.get(), H5P_DEFAULT, bytes.data()),
       "write", "text");
}

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
Dataset open_dataset(const File& file, const std::string& name) {
  const Call call;
  const List access(had(H5Pcreate(H5P_DATASET_ACCESS), "make list of", name));
  had(H5Pset_chunk_cache(access.get(), 521, kTextCache, H5D_CHUNK_CACHE_W0_DEFAULT), "set cache of", name);
  return open_own_dataset(file.get(), name, access.get());
}

bool has_attribute(const File& file, const std::string& name) {
  const Call call;
  return had(H5Aexists(file.get(), name.c_str()), "look for attribute", name) > 0;
}
std::string read_word_attribute(const File& file, const std::string& name) {
  const Call call;
  return read_word(file.get(), name);
}
std::uint64_t read_number_attribute(const File& file, const std::string& name) {
  const Call call;
  return read_number(file.get(), name);
}
std::string read_word_attribute(const Group& group, const std::string& name) {
  const Call call;
  return read_word(group.get(), name);
}
std::uint64_t read_number_attribute(const Group& group, const std::string& name) {
  const Call call;
  return read_number(group.get(), name);
}

std::uint64_t rows_of(const Dataset& dataset) {
  const Call call;
  return length_of(dataset.get(), "text");
}
std::uint64_t rows_of(const Group& group, const std::string& column) {
  const Call call;
  const auto dataset = open_own_dataset(group.get(), column);
  return length_of(dataset.get(), column);
}

std::string_view Words::at(std::uint64_t row) const noexcept {
  const char* word = packed.data() + row * width;
  return {word, ::strnlen(word, width)};
}

std::string read_numbers(const Group& group, const std::string& name, Number type, std::uint64_t rows,
                         std::vector<bool>* lost) {
  const Call call;
  const auto dataset = open_column(group, name, rows, size_of(type));
  std::string values(rows * size_of(type), '\0');
  read_rows(dataset, name, native(type), size_of(type), values, lost);
  return values;
}

Words read_words(const Group& group, const std::string& name, std::uint64_t rows, std::vector<bool>* lost) {
  const Call call;
  Words words;
  {
    const auto dataset = open_own_dataset(group.get(), name);
    const Type type(had(H5Dget_type(dataset.get()), "read type of", name));
    if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0) {
      throw Error(ErrorCode::corrupt, fmt::format("dataset '{}' holds no fixed-length strings", name));
    }
    words.width = H5Tget_size(type.get());
  }
  const auto dataset = open_column(group, name, rows, words.width);
  const auto type = word_type(words.width);
  words.packed.resize(rows * words.width);
  read_rows(dataset, name, type.get(), words.width, words.packed, lost);
  return words;
}

std::string read_bytes(const Dataset& dataset, std::uint64_t at, std::uint64_t size) {
  const Call call;
  const hsize_t start = at, count = size;
  if (size == 0) return {};
  const auto length = length_of(dataset.get(), "text");
  if (at > length || size > length - at) {
    throw Error(ErrorCode::corrupt,
                fmt::format("text of {} bytes at {} lies outside of the {} bytes of 'text'", size, at, length));
  }
  std::string bytes(size, '\0');
  read_range(dataset, "text", H5T_NATIVE_UINT8, start, count, bytes.data());
  return bytes;
}

}  // namespace nkigrid::log::h5
