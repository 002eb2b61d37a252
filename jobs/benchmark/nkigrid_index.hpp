#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"

/// Our own format (docs/formats/benchmark.md), read and written.
namespace nkigrid::jobs {

inline constexpr const char* kIndexFile = "index.json";
inline constexpr const char* kAboutFile = "about.json";

/// The benchmark of a folder that has an index. @throws Error{config} naming file, key and what is wrong; Error{io}
Benchmark read_index_file(const std::filesystem::path& folder);

/// Of an index that this program made: task id -> SHA-256 (hex) of the text that it was made from. Empty for another.
std::map<std::string, std::string> sources_of_index(const std::filesystem::path& folder);

/// The subsets of an index whose tasks may be gone.
std::map<std::string, std::vector<std::string>> subsets_of_index(const std::filesystem::path& folder);

/// Adds a task that was posed, unsorted. What no kernel can be given is refused. @pre posed.refused is empty
void add_posed(const PosedTask& posed, Benchmark& benchmark);

/// Whether an index tells what it was made from: then it is made again when a task changes. A run's never is.
enum class Sources { untold, told };

/// A benchmark, whatever its format was, as a folder of our own: path below it -> bytes. Known kernels and about.json
/// are left out.
std::map<std::string, std::string> own_format_files(const Benchmark& benchmark, Sources sources = Sources::untold);

/// Writes index.json and about.json of a folder whose tasks lie there. @throws Error{io}
void write_index(const Benchmark& benchmark, const std::filesystem::path& folder, Sources sources);

/// about.json of a benchmark.
std::string about_text(const Benchmark& benchmark);

}  // namespace nkigrid::jobs
