#include "slurm/request_parts.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

#include "slurm/array_text.hpp"

namespace nkigrid::slurm {
namespace {

constexpr std::uint32_t kMostNodes = 100'000;  // no cluster has more: a list that names them is a mistake

}  // namespace

std::vector<std::string> submit_environment(const JobRequest& request) {
  auto environment = request.environment;
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  environment.push_back("SLURM_SUBMIT_DIR=" + request.work_folder);
  environment.push_back(fmt::format("SLURM_SUBMIT_HOST={}", host));
  environment.push_back("SLURM_JOB_NAME=" + request.name);
  environment.push_back("SLURM_PRIO_PROCESS=0");
  const auto mask = ::umask(0);
  ::umask(mask);
  environment.push_back(fmt::format("SLURM_UMASK={:04o}", static_cast<unsigned>(mask)));
  return environment;
}

bool is_of(const JobState& job, const JobRequest& request) {
  return job.comment == request.comment && (job.work_folder.empty() || job.work_folder == request.work_folder);
}

std::set<std::string> node_names(std::string_view list) {
  std::set<std::string> names;
  std::uint64_t told = 0;  // a place may tell what another has told
  while (!list.empty() && told <= kMostNodes) {
    const auto open = list.find('['), comma = list.find(',');
    const auto close = open < comma ? list.find(']', open) : std::string_view::npos;
    const auto end = std::min(close == std::string_view::npos ? comma : list.find(',', close), list.size());
    const auto word = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (close == std::string_view::npos) {
      if (!word.empty() && open >= end) names.emplace(word);
      continue;
    }
    const auto front = word.substr(0, open), back = word.substr(close + 1);
    for (auto places = word.substr(open + 1, close - open - 1); !places.empty();) {
      const auto place = places.substr(0, places.find(','));
      places.remove_prefix(std::min(place.size() + 1, places.size()));
      const auto width = std::min(place.find('-'), place.size());  // "01-04" keeps its zeros
      const auto count = count_elements(place);
      if (count > kMostNodes || (told += count) > kMostNodes) continue;
      for (const auto number : parse_elements(place)) {
        names.insert(fmt::format("{}{:0{}}{}", front, number, width, back));
      }
    }
  }
  return names;
}

std::uint64_t megabytes(const std::string& mem) {
  const auto number = std::strtoull(mem.c_str(), nullptr, 10);
  switch (mem.back()) {
    case 'T':
      return number << 20;
    case 'G':
      return number << 10;
    case 'K':
      return number >> 10;
    default:
      return number;
  }
}

}  // namespace nkigrid::slurm
