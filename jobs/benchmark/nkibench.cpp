#include <fmt/core.h>

#include "jobs/base/ids.hpp"
#include "jobs/benchmark/formats.hpp"

/// AccelOpt's NKIBench form: reference/*.py in numpy, with get_inputs(), forward() and transform_to_nki_inputs(), which
/// gives what the kernel is called with. Each becomes a task in KernelBench form by a few lines behind its text.
namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

/// The kernel gets the transformed inputs, so these are the task's, and Model takes them back to what forward() wants.
/// A transformation may reshape, transpose and copy; where each element went is found by sending numbers through it.
constexpr const char* kAdapter = R"python(

# From here on: the task in KernelBench form (Model, get_inputs, get_init_inputs), for nkigrid.
import inspect as _inspect

import torch as _torch

_numpy_inputs = get_inputs
_transform = globals().get("transform_to_nki_inputs", lambda inputs: inputs)


def _listed(values):
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _drawn():
    np.random.seed(_torch.randint(0, 2**31 - 1, (1,)).item())
    return _listed(_numpy_inputs())


def _places(inputs):
    """Where the transformation puts each element: inputs whose elements are their own numbers, sent through it."""
    starts, marked, start = [], [], 0
    for value in inputs:
        starts.append(start)
        if isinstance(value, np.ndarray):
            marked.append(np.arange(start, start + value.size, dtype=np.float64).reshape(value.shape))
            start += value.size
        else:
            marked.append(value)
    moved = [m.ravel() for m in _listed(_transform(marked)) if isinstance(m, np.ndarray)]
    flat = np.concatenate(moved) if moved else np.zeros(0)
    if flat.size < start or (flat != np.round(flat)).any() or flat.min() < 0 or flat.max() >= start:
        raise ValueError("transform_to_nki_inputs() computes; only a change of layout can be posed")
    back = np.full(start, -1, dtype=np.int64)
    back[flat.astype(np.int64)] = np.arange(flat.size)
    if (back < 0).any():
        raise ValueError("transform_to_nki_inputs() drops elements; only a change of layout can be posed")
    return starts, back


def get_inputs():
    moved = _listed(_transform(_drawn()))
    return [_torch.from_numpy(np.ascontiguousarray(m)) if isinstance(m, np.ndarray) else m for m in moved]


def get_init_inputs():
    return []


class Model(_torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inputs = _drawn()
        self.starts, self.back = _places(self.inputs)

    def forward(self, *inputs):
        flat = np.concatenate([_torch.as_tensor(i).numpy().ravel() for i in inputs if isinstance(i, _torch.Tensor)])
        given = []
        for value, start in zip(self.inputs, self.starts):
            if isinstance(value, np.ndarray):
                value = flat[self.back[start : start + value.size]].reshape(value.shape).astype(value.dtype)
            given.append(value)
        return tuple(_torch.from_numpy(np.ascontiguousarray(r)) for r in _listed(forward(*given)))

    # What the kernel gets is named after the arguments of the task's own forward().
    forward.__signature__ = _inspect.signature(lambda self: None).replace(
        parameters=[*_inspect.signature(lambda self: None).parameters.values(),
                    *_inspect.signature(globals()["forward"]).parameters.values()]
    )
)python";

/// "adamw_M10944_N2048_numpy_1" -> "adamw_M10944_N2048": what AccelOpt calls the task.
std::string bare_name(const std::string& stem) {
  const auto at = stem.rfind("_numpy");
  return at == std::string::npos ? stem : stem.substr(0, at);
}

Benchmark read_nkibench(const BenchmarkPlace& place, const TaskPoser& poser) {
  std::error_code none;
  const auto root =
      fs::exists(place.folder / "NKIBench" / "reference", none) ? place.folder / "NKIBench" : place.folder;
  std::vector<UnposedTask> tasks;
  std::vector<RefusedTask> misnamed;
  for (const auto& file : python_files(root / "reference")) {
    const auto id = "nkibench/" + bare_name(file.stem().native());
    if (is_task_id(id))
      tasks.push_back({id, task_source(root, fs::path("reference") / file) + kAdapter, "nkibench"});
    else
      misnamed.push_back({id, "its file's name is no task's (up to 64 letters, digits, _ and - are wanted)"});
  }
  auto benchmark = pose_benchmark("nkibench", std::move(tasks), place, poser);
  benchmark.refused.insert(benchmark.refused.end(), misnamed.begin(), misnamed.end());
  add_whole_subset("nkibench", benchmark);
  return benchmark;
}

}  // namespace

BenchmarkFormat nkibench_format() { return {"nkibench", {"reference", "NKIBench/reference"}, read_nkibench}; }

}  // namespace nkigrid::jobs
