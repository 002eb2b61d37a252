#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "jobs/grid/pages.hpp"

namespace nkigrid::jobs {

struct Task;

/// What a system message says: one text, or parts of which a task gets those of its rank.
struct PromptSpec {
  std::string name;
  std::filesystem::path file;    ///< or folder, where there are parts
  std::string text;              ///< verbatim; of parts all of them, in order
  std::vector<Page> parts = {};  ///< files `NAME.md` and `NAME.rank-N.md`, in order of their names; empty: one text
};

/// Reads the parts of a folder. @throws Error{config} naming what is no part; Error, filesystem_error as read_pages()
PromptSpec read_prompt_folder(const std::filesystem::path& folder);

/// The system message of a task. Of parts with one NAME the one of the task's rank stands there, else the one without a
/// rank, else none.
std::string text_for(const PromptSpec& prompt, const Task& task);

/// Its content for keys, SHA-256 (hex).
std::string hash_of(const PromptSpec& prompt);

}  // namespace nkigrid::jobs
