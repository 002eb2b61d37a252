#include "slurm/request_parts.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/core.h>

namespace nkigrid::slurm {

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

std::uint64_t megabytes(const std::string& mem) {
  const auto number = std::strtoull(mem.c_str(), nullptr, 10);
  switch (mem.back()) {
    case 'T': return number << 20;
    case 'G': return number << 10;
    case 'K': return number >> 10;
    default: return number;
  }
}

}  // namespace nkigrid::slurm
