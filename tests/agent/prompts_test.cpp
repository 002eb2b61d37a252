#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "jobs/base/files.hpp"
#include "jobs/grid/grid.hpp"

namespace nkigrid::agent {
namespace {

/// The prompts that the project ships, by name.
std::string prompt(const std::string& name) {
  return read_file(std::string(NKIGRID_SOURCE_DIR) + "/configs/prompts/" + name + ".md");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Prompts, NoneSaysHowToAnswer) {
  // That depends on the mode, and the task message says it.
  for (const std::string name : {"naive", "rank-aware", "rank-aware-plus"}) {
    for (const std::string words : {"compile_kernel", "verify_kernel", "tool", "nswer with", "code block", "Reply"})
      EXPECT_EQ(prompt(name).find(words), std::string::npos) << name << ": " << words;
  }
}

TEST(Prompts, DifferByWhatThePaperSaysOnly) {
  // Section 3.3: a 2-D layout is assumed; or: read the input-shape block, templates for 2-D, 3-D and 4-D, and every
  // output element must be written by an nl.store.
  const std::string aware = prompt("rank-aware");
  std::vector<std::string> only_naive;
  for (const auto& line : lines_of(prompt("naive"))) {
    if (aware.find(line) == std::string::npos) only_naive.push_back(line);
  }
  EXPECT_EQ(only_naive, std::vector<std::string>{"Treat every tensor as a 2-D matrix, [rows, cols]: tile the rows."});
  EXPECT_EQ(aware.find("PSUM with"), std::string::npos);
  EXPECT_EQ(aware.find("warning"), std::string::npos);
  EXPECT_TRUE(prompt("rank-aware-plus").starts_with(aware));
}

TEST(Prompts, ABlockOfRanksSaysWhatRankAwareSaysOfThatRank) {
  const auto block = jobs::read_prompt_folder(std::string(NKIGRID_SOURCE_DIR) + "/configs/prompts/rank-block");
  const std::string aware = prompt("rank-aware");
  for (const std::size_t rank : {1, 2, 3, 4, 5}) {
    jobs::Task task;
    task.inputs = {{"x", std::vector<std::int64_t>(rank, 4), "float32", "input"}};
    const auto text = text_for(block, task);
    std::string templates;
    for (const auto& line : lines_of(text)) {
      if (line.size() > 5 && line.substr(1, 4) == "-D, ") templates += line[0];
    }
    EXPECT_EQ(templates, rank < 2 || rank > 4 ? "234" : std::to_string(rank));
    EXPECT_TRUE(text.ends_with("Every element of the output must be written by an `nl.store`.\n"));
    std::vector<std::string> others;
    for (const auto& line : lines_of(text)) {
      if (aware.find(line) == std::string::npos) others.push_back(line);
    }
    EXPECT_EQ(others, std::vector<std::string>{"a loop."}) << "where there is nothing to choose";
  }
}

}  // namespace
}  // namespace nkigrid::agent
