#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/grid/mode_tools.hpp"

// What read_docs answers: JSON of at most kMaxAnswerBytes (answers.hpp).
namespace nkigrid::agent {

/// Which files there are, with how many lines.
std::string list_answer(const std::vector<jobs::Page>& pages, const std::vector<std::string>& notes);

/// A page by its name; null when there is none.
const jobs::Page* find_page(const std::vector<jobs::Page>& pages, const std::string& name);
/// Why there is none, in words that the model can act on.
std::string unknown_page(const std::vector<jobs::Page>& pages, const std::string& name);

/// Whole lines of a page as far as they fit, and `next_line` where it goes on.
/// @param line from 1; one behind the last line gives no text
std::string page_answer(const jobs::Page& page, std::uint32_t line, const std::vector<std::string>& notes);

}  // namespace nkigrid::agent
