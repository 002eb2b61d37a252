#pragma once

#include <optional>
#include <span>

#include "aggregate/statistics/interval.hpp"
#include "aggregate/statistics/level_scatter.hpp"
#include "aggregate/statistics/task_counts.hpp"

namespace nkigrid::aggregate {

/// Wilson's score interval. @param rate may be a mean over replicates, `n` is the number of tasks, whole or effective
/// @source Wilson 1927, JASA 22:209
Interval wilson(double rate, double n, double confidence);

/// The interval that inverts the two one-sided binomial tests. @param rate may be a mean over replicates, `n`
/// is the number of tasks: then passed = rate n need not be whole
/// @source Clopper & Pearson 1934, Biometrika 26:404; Korn & Graubard 1998, Survey Methodology 24:193 (means)
Interval clopper_pearson(double rate, double n, double confidence);

/// Difference a - b of two independent rates by square-and-add of their Wilson intervals.
/// @source Newcombe 1998, Statistics in Medicine 17:873 (method 10)
Interval newcombe(double rate_a, double n_a, double rate_b, double n_b, double confidence);

/// Tasks over the design effect: as many tasks of one replicate, drawn without regard to level, would leave the mean as
/// uncertain. n (W + 1/2)/(S + 1/2), W = n/(n - 1) n rate (1 - rate) what such tasks would scatter and S
/// scatter_within_levels(); the halves are what two more tasks would scatter, one that passes and one that fails: with
/// few passes the effect is hardly known, and stays near 1. @param scores in [0, 1]
/// @source Kish 1965, Survey Sampling, 8.2; Korn & Graubard 1998, Survey Methodology 24:193
double effective_tasks(const LevelValues& scores);

/// The rule for a mean of scores over tasks, for other tasks of these levels: Wilson with effective_tasks(). @returns
/// method wilson-eff @param scores in [0, 1], at least one
Interval mean_interval(const LevelValues& scores, double confidence);

/// The contract's rule for one rate: mean_interval() of the pass fractions, widened to hold run_to_run_interval(). One
/// replicate a task and one level: that is Wilson's interval, and called so. @pre tasks is not empty, replicates >= 1
Interval rate_interval(std::span<const TaskCount> tasks, double confidence);

/// The true rate of these very tasks: rate -+ z sqrt(sigma^2/(K n)), cut to [0, 1], with sigma^2 the
/// mean over tasks of K/(K-1) p (1 - p). None when no task has two replicates. Where at most five tasks have replicates
/// that differ, sigma^2 is known too badly: Wilson with n^2/sum(1/K) episodes (all nK of equal K), which is cautious,
/// since the mean of p (1 - p) over tasks is at most rate (1 - rate). (Another run of these tasks with as many
/// replicates has the scatter of two: its rate falls within sqrt(2) times these ends.)
/// @source Miller 2024, arXiv 2411.00640, section 3
std::optional<Interval> run_to_run_interval(std::span<const TaskCount> tasks, double confidence);

}  // namespace nkigrid::aggregate
