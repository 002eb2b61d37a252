#include "runner/nkisim/program/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/nkisim/program/ranges.hpp"

namespace nkigrid::nkisim {

std::string variable_name(const Program& program, std::uint32_t buffer) {
  const Buffer& root = program.buffers[root_of(program, buffer)];
  const std::string& own = program.buffers[buffer].name;
  const std::string& name = own.empty() ? root.name : own;
  const std::uint32_t line = program.buffers[buffer].line != 0 ? program.buffers[buffer].line : root.line;
  if (root.kind == BufferKind::param) return fmt::format("parameter `{}`", name);
  if (name.empty()) return line == 0 ? std::string("a temporary") : fmt::format("a temporary of line {}", line);
  return line == 0 ? fmt::format("variable `{}`", name) : fmt::format("variable `{}` (line {})", name, line);
}

std::string index_text(const std::vector<std::int64_t>& shape, std::uint64_t at) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t dim = shape.size(); dim-- > 0; at /= static_cast<std::uint64_t>(shape[dim])) {
    index[dim] = static_cast<std::int64_t>(at % static_cast<std::uint64_t>(shape[dim]));
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

}  // namespace nkigrid::nkisim
