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

/// A place in one of the texts that a grid is put together from; line and col count from 1, 0: no place.
struct Place {
  std::uint32_t line = 0, col = 0;
  std::uint32_t source = 0;  ///< which text: Problems::add_source(); 0: the file itself
  auto operator<=>(const Place&) const = default;
};

/// Gathers everything that is wrong with one file and with what is laid under and over it, so that one look mends all.
class Problems {
 public:
  explicit Problems(std::string file) : sources_{std::move(file)} {}

  /// Another text that places may be in: a file that is included, a word of the command line. @returns Place::source
  std::uint32_t add_source(std::string name);

  void add(Place place, std::string message);
  bool empty() const noexcept { return problems_.empty(); }
  std::size_t size() const noexcept { return problems_.size(); }
  /// All problems, text by text, in the order of their places; of the same place in the order they were found; without
  /// repeats.
  std::vector<Problem> sorted() const;

 private:
  struct Found {
    Place place;
    std::string message;
  };
  std::vector<std::string> sources_;
  std::vector<Found> problems_;
};

}  // namespace nkigrid::jobs
