#include <gtest/gtest.h>

#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "runner/model/synthetic/profile.hpp"
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
  const auto expect = [](const std::string& yaml, const std::vector<std::string>& parts) {
    const std::string message = message_of(yaml);
    for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  };
  expect("levels: {L1: {faults: [1]}}\n", {"p.yaml:1:", "format", "version"});
  expect(kHead, {"levels"});
  expect(kHead + "levels: {}\n", {"p.yaml:3:", "a map of levels"});
  expect(kHead + "levels: {L1: {faults: [0.5, 0.4]}}\n", {"p.yaml:3:23: levels.L1.faults sums to 0.9 (must be 1)"});
  expect(kHead + "levels: {L1: {faults: [1], no_cod: 0.1}}\n", {"p.yaml:3:", "no_cod", "no_code"});
  expect(kHead + "levels: {L1: {faults: [1]}}\nrepair: {exact: 2}\n", {"p.yaml:4:", "repair.exact", "2"});
  expect(kHead + "levels: {L1: {faults: [1]}}\nweights: {missing_stor: 2}\n",
         {"p.yaml:4:", "missing_stor", "missing_store"});
  expect(kHead + "version: 1\nlevels: {L1: {faults: [1]}}\n", {"p.yaml:3:", "version"});
  expect("a: [\n", {"p.yaml:"});
}

TEST(Profile, EveryMistakeIsToldAtOnce) {
  const std::string message = message_of(kHead + "levels: {L1: {faults: [1], truncated: 7}}\ndrift: x\n");
  EXPECT_NE(message.find("p.yaml:3:"), std::string::npos);
  EXPECT_NE(message.find("p.yaml:4:"), std::string::npos);
}

TEST(Profile, AnUnknownNameListsWhatThereIs) {
  try {
    load_profile(test::profiles_folder(), "novise");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("(there are: expert, novice) (did you mean 'novice'?)"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace nkigrid::model
