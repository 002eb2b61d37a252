#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace nkigrid::model {

/// How the synthetic model behaves on tasks of one level. Chances are in [0, 1].
struct LevelProfile {
  std::vector<double> faults;       ///< chance of 0, 1, 2 ... faults in the first kernel; sums to 1
  std::vector<double> tool_faults;  ///< the same where tools are offered; default: faults
  double no_code = 0;               ///< a reply that only talks
  double truncated = 0;             ///< a reply cut at the token limit
  double unclosed_fence = 0;        ///< text modes: the fence is not closed before the closing words
  double bad_arguments = 0;         ///< tool mode: arguments that do not fit the schema
  double gives_up = 0;              ///< tool mode: stops after a failure
  double over_reacts = 0;           ///< tool mode: "fixes" a kernel that compiles after a warning
};

/// Chance that one fault is found and repaired in one turn, by what the feedback says of it.
struct RepairProfile {
  double exact = 0;      ///< two of its code, its line and its words
  double named = 0;      ///< one of them
  double hinted = 0;     ///< verification failed, and its code or a hint points at the fault
  double vague = 0;      ///< verification failed, and only numbers are shown
  double unrelated = 0;  ///< the diagnostic is about another fault
  double blind = 0;      ///< no diagnostic at all
  double raw_text = 1;   ///< factor where the diagnostic is raw compiler text instead of a tool's answer
};

/// A behaviour of the synthetic model (docs/formats/profile.md).
struct Profile {
  std::string name;
  std::string hash;  ///< SHA-256 of the file's bytes; keys every draw
  std::string about;
  std::map<std::string, LevelProfile> levels;
  RepairProfile repair;
  double drift = 0;                       ///< a rewrite after a failure brings a new fault
  double same_reply = 0;                  ///< verify_kernel is called in the reply that calls compile_kernel
  std::map<std::string, double> weights;  ///< of the faults; default 1

  /// A level that the profile does not list behaves like its last one.
  const LevelProfile& level(const std::string& name) const;
};

/// @param label what messages call the text, usually its file
/// @throws Error{config} with everything that is wrong, a line each with file:line:col
Profile parse_profile(std::string_view yaml, std::string name, const std::string& label);

/// `folder`/<name>.yaml. @throws Error{config} naming the profiles that exist when there is none of that name
Profile load_profile(const std::filesystem::path& folder, const std::string& name);

}  // namespace nkigrid::model
