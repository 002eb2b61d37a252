#include "jobs/benchmark.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/benchmark/formats.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;

std::size_t rank_of(const Task& task) noexcept { return task.inputs.empty() ? 0 : task.inputs.front().shape.size(); }

const Task* Benchmark::find(std::string_view id) const noexcept {
  const auto at = std::lower_bound(tasks.begin(), tasks.end(), id,
                                   [](const Task& task, std::string_view wanted) { return task.id < wanted; });
  return at != tasks.end() && at->id == id ? &*at : nullptr;
}

std::string Benchmark::known_kernel(std::string_view id) const {
  const auto file = fs::path("kernels") / (std::string(id) + ".py");
  return has_foreign_file(place.folder, file) ? read_foreign_file(place.folder, file) : std::string();
}

std::vector<std::string> benchmark_format_names() {
  std::vector<std::string> names;
  for (const auto& format : benchmark_formats()) names.emplace_back(format.name);
  return names;
}

std::optional<BenchmarkPlace> find_benchmark(std::span<const fs::path> folders) {
  std::error_code ignored;
  for (const auto& folder : folders) {
    for (const auto& format : benchmark_formats()) {
      for (const auto marker : format.markers) {
        if (fs::exists(folder / marker, ignored)) return BenchmarkPlace{folder, std::string(format.name)};
      }
    }
  }
  return std::nullopt;
}

std::string benchmark_markers() {
  std::vector<std::string_view> markers;
  for (const auto& format : benchmark_formats())
    markers.insert(markers.end(), format.markers.begin(), format.markers.end());
  return fmt::format("{}", fmt::join(markers, ", "));
}

Benchmark load_benchmark(const BenchmarkPlace& place, const TaskPoser& poser) {
  const auto formats = benchmark_formats();
  const auto at = std::find_if(formats.begin(), formats.end(), [&](const auto& f) { return f.name == place.format; });
  if (at == formats.end())
    throw Error(ErrorCode::internal, fmt::format("there is no benchmark format '{}'", place.format));
  auto absolute = place;
  absolute.folder = fs::absolute(place.folder).lexically_normal();
  auto benchmark = at->read(absolute, poser);
  benchmark.place = std::move(absolute);
  return benchmark;
}

}  // namespace nkigrid::jobs
