#include <gtest/gtest.h>

#include <map>
#include <set>

#include "runner/model/synthetic/faults.hpp"
#include "tests/model/fixtures.hpp"

namespace nkigrid::model {
namespace {

TEST(Faults, HaveDistinctNamesAndCodesOrWords) {
  std::set<std::string_view> names;
  for (const Fault& fault : all_faults()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
    EXPECT_FALSE(fault.words.empty()) << fault.name;
  }
  EXPECT_GE(names.size(), 15u);
}

TEST(Faults, EachChangesSomeKnownKernelAndEachKernelHasManyHolds) {
  std::map<std::string_view, int> tasks_of;
  for (const jobs::Task& task : test::seed_benchmark().tasks) {
    const std::string known = test::seed_benchmark().known_kernel(task.id);
    int holds = 0;
    for (const Fault& fault : all_faults()) {
      const auto broken = fault.apply(known, 0);
      if (!broken) continue;
      EXPECT_NE(*broken, known) << fault.name << " " << task.id;
      ++holds;
      ++tasks_of[fault.name];
    }
    EXPECT_GE(holds, 8) << task.id;
  }
  for (const Fault& fault : all_faults()) EXPECT_GE(tasks_of[fault.name], 2) << fault.name;
}

TEST(Faults, EditTheTextWhereTheySay) {
  const std::string source =
      "from neuronxcc import nki\n@nki.jit\ndef kernel(x):\n    for t in nl.affine_range(4):\n"
      "        a = nl.load(x[t, i], mask=(t < 3))\n        acc += nl.sum(a, axis=1)\n"
      "    nl.store(out[0], value=acc)\n";
  const auto broken = [&](std::string_view name) {
    for (const Fault& fault : all_faults()) {
      if (fault.name == name) return fault.apply(source, 0).value_or("(no hold)");
    }
    return std::string("(no such fault)");
  };
  EXPECT_NE(broken("later_era").find("import nki\n@nki.jit"), std::string::npos);
  EXPECT_EQ(broken("no_decorator").find("nki.jit"), std::string::npos);
  EXPECT_NE(broken("hbm_operand").find("a = x[t, i]\n"), std::string::npos);
  EXPECT_NE(broken("without_mask").find("nl.load(x[t, i])\n"), std::string::npos);
  EXPECT_NE(broken("edge_overrun").find("nl.affine_range(4 + 1):"), std::string::npos);
  EXPECT_NE(broken("skipped_tail").find("nl.affine_range(4 - 1):"), std::string::npos);
  EXPECT_NE(broken("dropped_accumulation").find("acc[...] = nl.sum"), std::string::npos);
  EXPECT_NE(broken("missing_store").find("\n    pass\n"), std::string::npos);
  EXPECT_NE(broken("bf16_loss").find("mask=(t < 3), dtype=nl.bfloat16)"), std::string::npos);
  EXPECT_NE(broken("syntax_slip").find("nl.affine_range(4)\n"), std::string::npos);
  EXPECT_EQ(broken("partitions_256"), "(no hold)");
}

TEST(Faults, NeverTouchCommentsOrStrings) {
  const std::string source = "\"\"\"nl.load(x) 128\"\"\"\n# nl.store(out) nl.max axis=1\n";
  for (const Fault& fault : all_faults()) EXPECT_FALSE(fault.apply(source, 0).has_value()) << fault.name;
}

}  // namespace
}  // namespace nkigrid::model
