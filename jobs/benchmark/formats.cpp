#include "jobs/benchmark/formats.hpp"

#include "jobs/base/hash.hpp"

namespace nkigrid::jobs {

void finish_task(Task& task) {
  task.level = task.id.substr(0, task.id.find('/'));
  task.hash = Sha256().field(task.source).field(task.index_entry).hex();
}

}  // namespace nkigrid::jobs
