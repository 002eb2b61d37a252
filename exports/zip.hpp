#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace nkigrid::exports {

/// Writes a zip archive, an entry after the other, in constant memory. The same entries give the same bytes: none has
/// a time of its own.
class ZipWriter {
 public:
  /// Writes beside `path`; only close() puts the archive there. @throws Error{io}
  explicit ZipWriter(const std::filesystem::path& path);
  ~ZipWriter();  ///< without close() nothing is left behind
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  /// @throws Error{io}
  void add(const std::string& name, std::string_view bytes);
  /// @throws Error{io}
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nkigrid::exports
