#include "aggregate/statistics/pair_power.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <numeric>
#include <string>
#include <thread>

#include "aggregate/statistics/limits.hpp"
#include "aggregate/statistics/normal.hpp"
#include "aggregate/statistics/paired.hpp"
#include "aggregate/statistics/power.hpp"
#include "jobs/base/draws.hpp"
#include "jobs/base/hash.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr std::size_t kQuantiles = 128;  // that stand for a Beta; a power of two, drawn by seven bits
constexpr double kEdge = 1e-3;           // rates keep this far from 0 and 1
constexpr double kScreen = 3;            // a normal p further from alpha than this factor decides by itself
constexpr std::size_t kManyTasks = 40;   // differing tasks from which on it may,
constexpr std::size_t kMostTasks = 400;  // and from which on it always does: it is good to some percent of alpha then
constexpr std::int64_t kFinest = 64;  // steps of a pass rate's difference that the test of a simulated grid tells apart
constexpr double kResolution = 5e-4;  // of a difference
constexpr double kNearPower = 4e-3;   // above the goal and near enough

/// Chances at the midpoints of equal shares of tasks, ascending, with the Beta's mean.
std::vector<double> beta_quantiles(double rate, double share) {
  using namespace boost::math::policies;
  using Quiet = policy<domain_error<ignore_error>, overflow_error<ignore_error>, evaluation_error<ignore_error>,
                       underflow_error<ignore_error>>;
  const double strength = 1 / share - 1;
  const boost::math::beta_distribution<double, Quiet> beta(rate * strength, (1 - rate) * strength);
  std::vector<double> chances;
  for (std::size_t i = 0; i < kQuantiles; ++i) {
    const double at = (static_cast<double>(i) + 0.5) / kQuantiles, chance = boost::math::quantile(beta, at);
    chances.push_back(std::isfinite(chance) ? std::clamp(chance, 0.0, 1.0) : at > 1 - rate ? 1.0 : 0.0);
  }
  // Midpoints miss the mean by a little; the rate is what the power hangs on.
  const double mean = std::accumulate(chances.begin(), chances.end(), 0.0) / kQuantiles;
  for (auto& chance : chances) chance = mean > rate ? chance * rate / mean : 1 - (1 - chance) * (1 - rate) / (1 - mean);
  return chances;
}

/// Draws passes out of K by inversion.
class PassDraws {
 public:
  PassDraws(const std::vector<double>& chances, std::uint32_t replicates) : replicates_(replicates) {
    for (const auto chance : chances) add(chance);
  }

  std::int64_t draw(std::size_t quantile, std::uint64_t uniform32) const noexcept {
    const auto* first = below_.data() + quantile * replicates_;
    return std::upper_bound(first, first + replicates_, uniform32) - first;
  }

 private:
  // From the mode outwards each probability is the one before times a ratio: no tail is lost, and thousands of
  // replicates are cheap.
  void add(double chance) {
    const std::size_t n = replicates_,
                      mode = std::min<std::size_t>(n, static_cast<std::size_t>((static_cast<double>(n) + 1) * chance));
    const double odds = chance / (1 - chance);
    std::vector<double> mass(n + 1);
    mass[mode] = 1;
    for (std::size_t k = mode + 1; k <= n && mass[k - 1] > 0; ++k)
      mass[k] = mass[k - 1] * odds * static_cast<double>(n - k + 1) / static_cast<double>(k);
    for (std::size_t k = mode; k > 0 && mass[k] > 0; --k)
      mass[k - 1] = mass[k] / odds * static_cast<double>(k) / static_cast<double>(n - k + 1);
    const double sum = std::accumulate(mass.begin(), mass.end(), 0.0);
    double below = 0;
    for (std::size_t k = 0; k < n; ++k) {
      below += mass[k] / sum;
      below_.push_back(static_cast<std::uint64_t>(std::ldexp(std::min(below, 1.0), 32)));
    }
  }

  std::uint32_t replicates_;
  std::vector<std::uint64_t> below_;  // [quantile][k]: P(at most k), times 2^32
};

/// The p value of the differences, counted wherever it decides at one of the alphas.
double deciding_p(const Sample& differences, const std::vector<double>& alphas, PValue kind) {
  double sum = 0, squares = 0;
  std::size_t differing = 0;
  for (const auto value : differences.strata[0]) {
    const auto d = static_cast<double>(value);
    sum += d, squares += d * d, differing += value != 0;
  }
  const int doubled = kind == PValue::exact ? 1 : 0;
  const double least = std::ldexp(1.0, doubled - static_cast<int>(std::min<std::size_t>(differing, 1000)));
  if (differing == 0 || least > *std::max_element(alphas.begin(), alphas.end())) return 1;
  if (differing >= kManyTasks) {
    const double p = 2 * normal_cdf(-std::abs(sum) / std::sqrt(squares)).below;
    const bool clear = differing >= kMostTasks || std::all_of(alphas.begin(), alphas.end(), [&](double alpha) {
                         return p > kScreen * alpha || p < alpha / kScreen;
                       });
    if (clear) return p;
  }
  return sign_flip(differences, kind);
}

}  // namespace

PairPower::PairPower(const PairChances& pair, const PairSize& size, std::vector<double> alphas, std::uint32_t draws,
                     PValue kind)
    : pair_(pair), size_(size), alphas_(std::move(alphas)), draws_(draws), kind_(kind) {
  pair_.rate = std::clamp(pair_.rate, kEdge, 1 - kEdge);
  pair_.share_a = std::clamp(pair_.share_a, 0.02, 0.98);
  pair_.share_b = std::clamp(pair_.share_b, 0.02, 0.98);
  pair_.correlation = std::clamp(pair_.correlation, -1.0, 1.0);
  chances_b_ = beta_quantiles(pair_.rate, pair_.share_b);
  for (std::uint32_t d = 0; !is_exact() && d < draws_; ++d) keys_.push_back(keyed_hash({"power", std::to_string(d)}));
}

double PairPower::most() const noexcept { return std::max(pair_.rate, 1 - pair_.rate) - kEdge; }

double PairPower::discordance(double difference) const {
  const double rate_a = pair_.rate + (pair_.rate > 0.5 ? -difference : difference);
  const auto chances_a = beta_quantiles(rate_a, pair_.share_a);
  double both = 0;
  for (std::size_t i = 0; i < kQuantiles; ++i)
    both += chances_a[pair_.correlation < 0 ? kQuantiles - 1 - i : i] * chances_b_[i] / kQuantiles;
  const double coupled = std::abs(pair_.correlation);
  return rate_a + pair_.rate - 2 * (coupled * both + (1 - coupled) * rate_a * pair_.rate);
}

const std::vector<double>& PairPower::at(double difference) {
  difference = std::min(difference, most());
  const auto known = known_.find(difference);
  if (known != known_.end()) return known->second;
  std::vector<double> powers;
  if (is_exact()) {
    const double differing = discordance(difference);
    for (const auto alpha : alphas_) powers.push_back(mcnemar_power(difference, differing, size_.tasks, alpha, kind_));
  } else {
    powers = simulated(difference);
  }
  return known_.emplace(difference, std::move(powers)).first->second;
}

std::vector<double> PairPower::simulated(double difference) const {
  const double rate_a = pair_.rate + (pair_.rate > 0.5 ? -difference : difference);
  const PassDraws in_a(beta_quantiles(rate_a, pair_.share_a), size_.replicates_a), in_b(chances_b_, size_.replicates_b);
  const std::int64_t denominator = std::lcm<std::int64_t>(size_.replicates_a, size_.replicates_b);
  const auto unit_a = denominator / size_.replicates_a, unit_b = denominator / size_.replicates_b;
  const auto steps = std::min(denominator, kFinest);
  const auto coupled = static_cast<std::uint64_t>(std::ldexp(std::abs(pair_.correlation), 32));
  const auto threads = std::clamp(std::thread::hardware_concurrency(), 1u, kMaxThreads);
  std::vector<std::vector<std::uint32_t>> reached(threads, std::vector<std::uint32_t>(alphas_.size()));
  const auto work = [&](unsigned thread) {
    Sample sample{steps, {std::vector<std::int64_t>(size_.tasks)}};
    for (std::size_t d = thread; d < keys_.size(); d += threads) {
      Draws draws(keys_[d]);
      for (auto& value : sample.strata[0]) {
        const auto which = draws.bits(), passes = draws.bits();
        const std::size_t of_b = which >> 57, other = which >> 50 & (kQuantiles - 1);
        const bool same = (which & 0xffffffffu) < coupled;
        const std::size_t of_a = !same ? other : pair_.correlation < 0 ? kQuantiles - 1 - of_b : of_b;
        value = unit_a * in_a.draw(of_a, passes & 0xffffffffu) - unit_b * in_b.draw(of_b, passes >> 32);
        if (steps < denominator)
          value = std::llround(static_cast<double>(value * steps) / static_cast<double>(denominator));
      }
      const double p = deciding_p(sample, alphas_, kind_);
      for (std::size_t i = 0; i < alphas_.size(); ++i) reached[thread][i] += p <= alphas_[i];
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
    work(0);
  }
  std::vector<double> powers(alphas_.size());
  for (const auto& own : reached) {
    for (std::size_t i = 0; i < powers.size(); ++i) powers[i] += static_cast<double>(own[i]) / draws_;
  }
  return powers;
}

std::optional<double> PairPower::smallest(std::size_t alpha, double power) {
  // Power is close to a straight line in its normal deviate.
  const auto deviate = [&](double value) {
    const double least = 0.5 / (is_exact() ? 1e6 : draws_), inside = std::clamp(value, least, 1 - least);
    return normal_quantile({inside, 1 - inside});
  };
  if (at(most())[alpha] < power) return std::nullopt;
  double low = 0, high = most();
  for (const auto& [difference, powers] : known_) {  // what another alpha has asked
    if (powers[alpha] < power) low = std::max(low, difference);
    if (powers[alpha] >= power) high = std::min(high, difference);
  }
  for (int step = 0; high - low > kResolution && at(high)[alpha] - power > (is_exact() ? 1e-6 : kNearPower); ++step) {
    const double below = deviate(at(low)[alpha]), above = deviate(at(high)[alpha]);
    const double share = above > below ? (deviate(power) - below) / (above - below) : 0.5;
    // Every third step halves, so that a bent line cannot creep.
    const double middle = low + (high - low) * (step % 3 == 2 ? 0.5 : std::clamp(share + 0.02, 0.02, 0.98));
    (at(middle)[alpha] < power ? low : high) = middle;
  }
  return high;
}

}  // namespace nkigrid::aggregate
