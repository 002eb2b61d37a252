#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aggregate/tables/document.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::test {

/// Evidence of a made run, with the run that it refers to.
class MadeEvidence {
 public:
  MadeEvidence(MadeRun made, const aggregate::TableOptions& options = {})
      : made_(std::make_unique<MadeRun>(std::move(made))),
        evidence_(aggregate::evidence_of(made_->run, made_->ledger, options)) {}

  operator const aggregate::Evidence&() const noexcept { return evidence_; }

 private:
  std::unique_ptr<MadeRun> made_;
  aggregate::Evidence evidence_;
};

/// The tables of these names, as --table would choose them.
inline aggregate::TableList named(const std::vector<std::string>& names, aggregate::From from = aggregate::From::runs) {
  return names.empty() ? aggregate::TableList{} : aggregate::parse_tables(names, aggregate::Format::text, from);
}

inline std::string printed(const aggregate::Evidence& evidence, const std::vector<std::string>& names,
                           aggregate::Format format) {
  const auto from = evidence.from_counts() ? aggregate::From::counts : aggregate::From::runs;
  return aggregate::print_tables(evidence, named(names, from), format);
}

/// A table's rows for programs.
inline std::vector<std::vector<std::string>> data_rows(const aggregate::Evidence& evidence, const std::string& name) {
  return named({name}).front()->data(evidence).rows;
}

}  // namespace nkigrid::test
