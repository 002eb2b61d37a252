#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "exports/sft.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::cli {

// Each writes the episodes at `places` and returns what is to be said of it on stderr. @throws Error{io}

/// FOLDER/<cell>.eval, a file a cell.
std::vector<std::string> export_inspect(const jobs::Run& run, const log::Ledger& ledger,
                                        std::span<const std::uint32_t> places, const std::filesystem::path& folder);

/// FOLDER/<cell>/<task>~<replicate>.json, a file an episode that was scored.
std::vector<std::string> export_atif(const jobs::Run& run, const log::Ledger& ledger,
                                     std::span<const std::uint32_t> places, const std::filesystem::path& folder);

/// JSON lines to a file, or to standard output where `file` is empty.
std::vector<std::string> export_sft(const jobs::Run& run, const log::Ledger& ledger,
                                    std::span<const std::uint32_t> places, const exports::SftOptions& options,
                                    const std::filesystem::path& file);

}  // namespace nkigrid::cli
