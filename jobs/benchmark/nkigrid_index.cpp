#include "jobs/benchmark/nkigrid_index.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/base/json_depth.hpp"
#include "jobs/benchmark/formats.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::size_t kMostJsonBytes = std::size_t{16} << 20;  // some thirty thousand tasks
constexpr std::size_t kMostTaskBytes = std::size_t{1} << 20;

/// What is wrong inside the index; its reader adds the file's name.
struct IndexFault {
  std::string where, what;
};

[[noreturn]] void fault(std::string where, std::string what) { throw IndexFault{std::move(where), std::move(what)}; }

const json& member(const json& object, const char* key, const std::string& where) {
  if (!object.is_object()) fault(where, "is no object");
  const auto at = object.find(key);
  if (at == object.end()) fault(where, fmt::format("has no '{}'", key));
  return *at;
}

std::string text_member(const json& object, const char* key, const std::string& where) {
  const auto& value = member(object, key, where);
  if (!value.is_string()) fault(fmt::format("{}.{}", where, key), fmt::format("is {} (text is wanted)", value.dump()));
  return value.get<std::string>();
}

/// A misspelt key would silently fall back to a default; the index has none to spare.
void only_keys(const json& object, std::initializer_list<std::string_view> known, const std::string& where) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      fault(where, fmt::format("has an unknown key '{}'", key));
  }
}

std::string one_of(std::string word, std::initializer_list<std::string_view> options, const std::string& where) {
  if (std::find(options.begin(), options.end(), word) != options.end()) return word;
  std::string list;
  for (const auto option : options) list += (list.empty() ? "" : ", ") + std::string(option);
  fault(where, fmt::format("is '{}' (one of {} is wanted)", word, list));
}

std::vector<std::int64_t> read_shape(const json& tensor, const std::string& where) {
  const auto& shape = member(tensor, "shape", where);
  if (!shape.is_array() || shape.empty()) fault(where + ".shape", "is no list of sizes (rank 0 is posed as [1])");
  std::vector<std::int64_t> sizes;
  for (const auto& size : shape) {
    if (!size.is_number_integer() || size.get<std::int64_t>() < 1)
      fault(where + ".shape", fmt::format("holds {} (a size of at least 1 is wanted)", size.dump()));
    sizes.push_back(size.get<std::int64_t>());
  }
  return sizes;
}

TensorSpec read_input(const json& object, const std::string& where) {
  only_keys(object, {"name", "shape", "dtype", "role", "domain", "bound"}, where);
  TensorSpec tensor;
  tensor.name = text_member(object, "name", where);
  tensor.shape = read_shape(object, where);
  tensor.dtype =
      one_of(text_member(object, "dtype", where), {"float32", "bfloat16", "int32", "uint8"}, where + ".dtype");
  tensor.role = one_of(text_member(object, "role", where), {"input", "parameter", "buffer"}, where + ".role");
  if (object.contains("domain")) {
    tensor.domain = one_of(text_member(object, "domain", where), {"real", "positive", "unit", "probability", "index"},
                           where + ".domain");
  }
  if (object.contains("bound")) {
    const auto& bound = object["bound"];
    if (!bound.is_number_integer())
      fault(where + ".bound", fmt::format("is {} (a whole number is wanted)", bound.dump()));
    tensor.index_bound = bound.get<std::int64_t>();
  }
  if (tensor.domain == "index" && tensor.index_bound < 1)
    fault(where, "has domain index without a bound of at least 1");
  return tensor;
}

TensorSpec read_output(const json& object, const std::string& where) {
  only_keys(object, {"name", "shape", "dtype"}, where);
  TensorSpec tensor;
  tensor.role = "output";
  if (object.contains("name")) tensor.name = text_member(object, "name", where);
  tensor.shape = read_shape(object, where);
  tensor.dtype = one_of(text_member(object, "dtype", where), {"float32", "int32", "uint8"}, where + ".dtype");
  return tensor;
}

const json& list_member(const json& object, const char* key, const std::string& where) {
  const auto& list = member(object, key, where);
  if (!list.is_array()) fault(fmt::format("{}.{}", where, key), "is no list");
  return list;
}

/// @param where of the entry, until its id is known. @param source_of gives the text of a task id
template <class SourceOf>
Task read_task(const json& entry, std::string where, SourceOf source_of) {
  Task task;
  task.id = text_member(entry, "id", where);
  if (!is_task_id(task.id))
    fault(where + ".id",
          fmt::format("is '{}' (level/name of letters, digits, _ and - is wanted, e.g. L1/002_gelu)", task.id));
  where = fmt::format("task {}", task.id);
  only_keys(entry, {"id", "category", "inputs", "outputs", "constants"}, where);
  task.category = text_member(entry, "category", where);
  std::set<std::string> names;
  for (const auto& input : list_member(entry, "inputs", where)) {
    task.inputs.push_back(read_input(input, fmt::format("{}.inputs[{}]", where, task.inputs.size())));
    if (!names.insert(task.inputs.back().name).second)
      fault(where, fmt::format("has two inputs named '{}'", task.inputs.back().name));
  }
  for (const auto& output : list_member(entry, "outputs", where)) {
    task.outputs.push_back(read_output(output, fmt::format("{}.outputs[{}]", where, task.outputs.size())));
  }
  if (task.inputs.empty() || task.outputs.empty()) fault(where, "needs at least one input and one output");
  if (entry.contains("constants")) {
    for (const auto& constant : list_member(entry, "constants", where)) {
      only_keys(constant, {"name", "value"}, where + ".constants");
      task.constants.push_back(
          {text_member(constant, "name", where + ".constants"), text_member(constant, "value", where + ".constants")});
    }
  }
  task.source = source_of(task.id);
  task.index_entry = entry.dump();  // nlohmann::json keeps keys sorted: the canonical text
  finish_task(task);
  return task;
}

/// Parses JSON, naming the line and column of a syntax fault.
json parse_json(const std::string& text, const fs::path& file) {
  try {
    return json::parse(shallow_part(text));
  } catch (const json::parse_error& error) {
    const auto upto = std::string_view(text).substr(0, error.byte == 0 ? 0 : error.byte - 1);
    const auto line = 1 + std::count(upto.begin(), upto.end(), '\n');
    const auto col = upto.size() - (upto.rfind('\n') == std::string_view::npos ? 0 : upto.rfind('\n') + 1) + 1;
    throw Error(ErrorCode::config, fmt::format("{}:{}:{}: broken JSON; mend it", file.native(), line, col));
  }
}

std::string task_text(const fs::path& folder, const std::string& id) {
  return read_foreign_file(folder, fs::path("tasks") / (id + ".py"), kMostTaskBytes);
}

void read_index(const json& index, const fs::path& folder, Benchmark& benchmark) {
  only_keys(index, {"format", "version", "name", "tasks", "subsets", "made_from"}, "the index");
  if (text_member(index, "format", "the index") != "nkigrid-benchmark") fault("format", "is not nkigrid-benchmark");
  if (member(index, "version", "the index") != 1)
    fault("version", fmt::format("is {} (this program reads 1)", index["version"].dump()));
  benchmark.name = text_member(index, "name", "the index");
  for (const auto& entry : list_member(index, "tasks", "the index")) {
    benchmark.tasks.push_back(read_task(entry, fmt::format("tasks[{}]", benchmark.tasks.size()),
                                        [&](const std::string& id) { return task_text(folder, id); }));
  }
  std::sort(benchmark.tasks.begin(), benchmark.tasks.end(), [](const Task& a, const Task& b) { return a.id < b.id; });
  for (std::size_t i = 1; i < benchmark.tasks.size(); ++i) {
    if (benchmark.tasks[i].id == benchmark.tasks[i - 1].id)
      fault(fmt::format("task {}", benchmark.tasks[i].id), "stands in the index twice");
  }
  if (!index.contains("subsets")) return;
  if (!index["subsets"].is_object()) fault("subsets", "is no object");
  for (const auto& [name, ids] : index["subsets"].items()) {
    const auto where = fmt::format("subset {}", name);
    if (!ids.is_array() || ids.empty()) fault(where, "is no list of task ids");
    std::set<std::string> unique;
    for (const auto& id : ids) {
      if (!id.is_string() || benchmark.find(id.get<std::string>()) == nullptr)
        fault(where, fmt::format("names {}, which is no task", id.dump()));
      if (!unique.insert(id.get<std::string>()).second) fault(where, fmt::format("names {} twice", id.dump()));
      benchmark.subsets[name].push_back(id.get<std::string>());
    }
  }
}

TaskAbout about_of(const json& said) {
  TaskAbout about;
  about.title = said.value("title", "");
  about.origin = said.value("origin", "");
  about.tags = said.value("tags", std::vector<std::string>());
  about.flops = said.value("flops", 0.0);
  about.hbm_bytes = said.value("hbm_bytes", 0.0);
  about.roofline_us = said.value("roofline_us", 0.0);
  return about;
}

/// about.json is for people: what it lacks is not said.
void read_about(const fs::path& folder, Benchmark& benchmark) {
  const auto file = folder / kAboutFile;
  if (!has_foreign_file(folder, kAboutFile)) return;
  const auto all = parse_json(read_foreign_file(folder, kAboutFile, kMostJsonBytes), file);
  for (const auto& task : benchmark.tasks) {
    try {
      if (all.contains(task.id)) benchmark.about[task.id] = about_of(all[task.id]);
    } catch (const json::exception&) {
      throw Error(ErrorCode::config, fmt::format("{}: what it says of {} has values of the wrong kind; make it again "
                                                 "(docs/formats/benchmark.md)",
                                                 file.native(), task.id));
    }
  }
}

}  // namespace

Benchmark read_index_file(const fs::path& folder) {
  Benchmark benchmark;
  const auto file = folder / kIndexFile;
  const auto index = parse_json(read_foreign_file(folder, kIndexFile, kMostJsonBytes), file);
  try {
    read_index(index, folder, benchmark);
  } catch (const IndexFault& found) {
    throw Error(ErrorCode::config, fmt::format("{}: {} {}", file.native(), found.where, found.what));
  }
  read_about(folder, benchmark);
  return benchmark;
}

namespace {

/// A member of an index that may be gone or broken: then it is as if empty.
template <class Value>
std::map<std::string, Value> map_of_index(const fs::path& folder, const char* key) {
  const auto index = parse_json(read_foreign_file(folder, kIndexFile, kMostJsonBytes), folder / kIndexFile);
  try {
    return index.value(key, std::map<std::string, Value>());
  } catch (const json::exception&) {
    return {};
  }
}

}  // namespace

std::map<std::string, std::string> sources_of_index(const fs::path& folder) {
  return map_of_index<std::string>(folder, "made_from");
}

std::map<std::string, std::vector<std::string>> subsets_of_index(const fs::path& folder) {
  return map_of_index<std::vector<std::string>>(folder, "subsets");
}

void write_index(const Benchmark& benchmark, const fs::path& folder, Sources sources) {
  write_file_atomic(folder / kAboutFile, about_text(benchmark));
  write_file_atomic(folder / kIndexFile, own_format_files(benchmark, sources).at(kIndexFile));
}

void add_posed(const PosedTask& posed, Benchmark& benchmark) {
  try {
    benchmark.tasks.push_back(
        read_task(json::parse(posed.entry), posed.id, [&](const std::string&) { return posed.source; }));
    benchmark.about[posed.id] = about_of(json::parse(posed.about));
  } catch (const IndexFault& found) {
    benchmark.refused.push_back({posed.id, fmt::format("{} {}", found.where, found.what)});
  } catch (const json::exception& error) {
    throw Error(ErrorCode::external,
                fmt::format("what was made of task '{}' cannot be read: {}", posed.id, error.what()));
  }
}

std::string about_text(const Benchmark& benchmark) {
  std::string lines;
  for (const auto& [id, about] : benchmark.about) {
    nlohmann::ordered_json said = {{"title", about.title}};
    if (!about.origin.empty()) said["origin"] = about.origin;
    said["tags"] = about.tags;
    said["flops"] = about.flops;
    said["hbm_bytes"] = about.hbm_bytes;
    said["roofline_us"] = about.roofline_us;
    lines += fmt::format("{}  {}: {}", lines.empty() ? "" : ",\n", json(id).dump(), said.dump());
  }
  return fmt::format("{{\n{}\n}}\n", lines);
}

std::map<std::string, std::string> own_format_files(const Benchmark& benchmark, Sources sources) {
  std::map<std::string, std::string> files, hashes;
  std::string tasks;
  for (const auto& task : benchmark.tasks) {
    files[fmt::format("tasks/{}.py", task.id)] = task.source;
    tasks += (tasks.empty() ? "\n  " : ",\n  ") + task.index_entry;
    hashes[task.id] = sha256_hex(task.source);
  }
  const auto made_from = sources == Sources::told ? ",\n \"made_from\": " + json(hashes).dump() : std::string();
  files[kIndexFile] = fmt::format(
      "{{\"format\": \"nkigrid-benchmark\", \"version\": 1, \"name\": {},\n \"tasks\": [{}],\n \"subsets\": "
      "{}{}}}\n",
      json(benchmark.name).dump(), tasks, json(benchmark.subsets).dump(), made_from);
  return files;
}

}  // namespace nkigrid::jobs
