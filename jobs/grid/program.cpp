#include "jobs/grid/program.hpp"

#include <filesystem>

#include <fmt/core.h>

#include "jobs/grid/folders.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;

std::vector<std::string> read_program(const YamlNode& node, std::string_view what, std::string_view example,
                                      const Folders& folders, Problems& problems) {
  std::vector<std::string> argv;
  for (auto& word : read_words(node, what, example, problems)) {
    if (word.text.starts_with("./") || word.text.starts_with("../")) {
      const auto file = fs::absolute(folders.of(word.place).base / word.text).lexically_normal();
      std::error_code ignored;
      if (!fs::exists(file, ignored))
        problems.add(word.place, fmt::format("{} names '{}' (there is no file '{}')", what, word.text, file.native()));
      word.text = file.native();
    }
    argv.push_back(std::move(word.text));
  }
  if (!argv.empty() &&
      (argv.front().empty() || (argv.front().find('/') != std::string::npos && argv.front().front() != '/'))) {
    problems.add(node.items.front().place, fmt::format("{} begins with '{}' (the name of a program on PATH, an "
                                                       "absolute path, or one that begins with ./ is wanted)",
                                                       what, argv.front()));
  }
  return argv;
}

}  // namespace nkigrid::jobs
