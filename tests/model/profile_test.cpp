#include <gtest/gtest.h>

#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "runner/model/profile.hpp"
#include "tests/model/fixtures.hpp"

namespace nkigrid::model {
namespace {

const std::string kHead = "format: nkigrid-profile\nversion: 1\n";

std::string message_of(const std::string& yaml) {
  try {
    parse_profile(yaml, "p", "p.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::config);
    return error.what();
  }
  return "(accepted)";
}

TEST(Profile, ShippedOnesAreReadWithTheirHash) {
  for (const std::string name : {"novice", "expert"}) {
    const Profile profile = load_profile(test::profiles_folder(), name);
    EXPECT_EQ(profile.hash, sha256_hex(read_file(test::profiles_folder() / (name + ".yaml"))));
    EXPECT_EQ(profile.levels.size(), 3u);
    EXPECT_EQ(&profile.level("L9"), &profile.level("L3"));
    EXPECT_GT(profile.repair.exact, profile.repair.named);
    EXPECT_GT(profile.repair.named, profile.repair.vague);
    EXPECT_GT(profile.repair.vague, profile.repair.blind);
  }
}

TEST(Profile, MistakesAreNamedWithTheirPlace) {
  EXPECT_EQ(message_of("x: 1\n"), "p.yaml:1:1: this is no profile ('format: nkigrid-profile' is missing)");
  EXPECT_EQ(message_of(kHead), "p.yaml:1:1: 'levels' is missing or empty");
  EXPECT_EQ(message_of(kHead + "levels: {L1: {faults: [0.5, 0.4]}}\n"), "p.yaml:3:23: 'faults' sums to 0.9 (must be 1)");
  EXPECT_EQ(message_of(kHead + "levels: {L1: {faults: [1], no_cod: 0.1}}\n"), "p.yaml:3:14: unknown key 'no_cod' in 'levels.L1' (did you mean 'no_code'?)");
  EXPECT_EQ(message_of(kHead + "levels: {L1: {faults: [1]}}\nrepair: {exact: 2}\n"), "p.yaml:4:17: 'exact' is 2 (legal: 0 to 1)");
  EXPECT_EQ(message_of(kHead + "levels: {L1: {faults: [1]}}\nweights: {missing_stor: 2}\n"),
            "p.yaml:4:11: unknown fault 'missing_stor' in 'weights' (did you mean 'missing_store'?)");
  EXPECT_EQ(message_of(kHead + "version: 1\nlevels: {L1: {faults: [1]}}\n"), "p.yaml:3:1: duplicate key 'version'");
}

TEST(Profile, AnUnknownNameListsWhatThereIs) {
  try {
    load_profile(test::profiles_folder(), "novise");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("(there are: expert, novice) (did you mean 'novice'?)"), std::string::npos);
  }
}

}  // namespace
}  // namespace nkigrid::model
