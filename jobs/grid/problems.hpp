#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nkigrid::jobs {

/// One thing that is wrong with a grid file. line and col count from 1; 0 when there is no place.
struct Problem {
  std::string file;
  std::uint32_t line = 0, col = 0;
  std::string message;
};

/// "file:line:col: message" a line.
std::string to_text(const std::vector<Problem>& problems);

/// A place in the file at hand; both count from 1, 0: no place.
struct Place {
  std::uint32_t line = 0, col = 0;
  auto operator<=>(const Place&) const = default;
};

/// Gathers everything that is wrong with one file, so that one look at it mends all.
class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void add(Place place, std::string message);
  bool empty() const noexcept { return problems_.empty(); }
  std::size_t size() const noexcept { return problems_.size(); }
  /// All problems in file order; of the same place in the order they were found; without repeats.
  std::vector<Problem> sorted() const;

 private:
  std::string file_;
  std::vector<Problem> problems_;
};

}  // namespace nkigrid::jobs
