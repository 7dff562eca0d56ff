internal import Foundation

/// An estimate of how many offers of one campaign will still be seen or clicked.
/// In the long run the estimate is the lag times the views per second, also while other clients take offers and never report them.
struct DeliveryEstimate {
    /// Offers of about one age.
    private struct Cohort {
        var offers: Double
        var seen = 0.0
        /// The part of the lags that is longer than the age.
        var rest = 1.0

        var unseen: Double { max(0, offers - seen) }
    }

    private static let shortestMemory = 900.0
    private static let lags = 5.0...1_800.0

    private let assumedRate: Double
    /// The offers that the assumed rate weighs, at most a quarter of the goal. Why: otherwise the first views of a small goal, or their lack, would
    /// weigh nothing, and clients that report none would take its few offers for hours.
    private let assumed: Double
    /// The oldest is first.
    private var cohorts: [Cohort] = []
    private var (passed, views) = (0.0, 0.0)
    /// The events that are in the cohorts already, before the ledger reports them.
    private var matched = 0.0
    private var lagCount = 0.0
    private(set) var lag = 60.0
    private var last: Int64?

    init(of goal: Campaign.Goal?) {
        let isSeen = goal?.unit != .clicks
        assumedRate = isSeen ? 1 : 0.05
        assumed = isSeen ? max(1, min(20, Double(min(goal?.total ?? 80, goal?.daily ?? 80)) / 4)) : 20
    }

    var viewRate: Double { min(1, (views + assumed * assumedRate) / (passed + assumed)) }

    /// The offers whose time has not come.
    var pending: Double { cohorts.reduce(0) { $0 + $1.offers * $1.rest } }

    /// An offer that is not seen yet is seen later with the chance rate × rest, of those that are not seen before.
    var expected: Double {
        let rate = viewRate
        return cohorts.reduce(0) { sum, cohort in
            let isLeft = 1 - rate * (1 - cohort.rest)
            return isLeft > 0 ? sum + cohort.unseen * rate * cohort.rest / isLeft : sum
        }
    }

    mutating func advance(to now: Int64) {
        let seconds = Double(max(0, now - (last ?? now))) / 1_000
        last = now
        guard seconds > 0, !cohorts.isEmpty || passed > 0 || views > 0 else { return }
        let kept = exp(-seconds / lag)
        var ended = 0.0
        for index in cohorts.indices {
            let rest = cohorts[index].rest * kept < 0.001 ? 0 : cohorts[index].rest * kept
            ended += cohorts[index].offers * (cohorts[index].rest - rest)
            cohorts[index].rest = rest
        }
        cohorts.removeAll { $0.rest == 0 }
        let memory = exp(-seconds / max(Self.shortestMemory, 8 * lag))
        (passed, views) = (passed * memory + ended, views * memory)
    }

    mutating func offered(_ count: Double) {
        if let last = cohorts.indices.last, count < 0 || cohorts[last].rest > 0.8 {
            let sum = max(0, cohorts[last].offers + count)
            if count > 0 { cohorts[last].rest += (1 - cohorts[last].rest) * count / sum }
            cohorts[last].offers = sum
        } else if count > 0 {
            cohorts.append(Cohort(offers: count))
        }
    }

    mutating func seen(_ count: Int64) {
        let count = Double(max(0, count))
        views += count
        let others = max(0, count - matched)
        matched = max(0, matched - count)
        let chances = cohorts.map { $0.unseen * $0.rest }
        let sum = chances.reduce(0, +)
        guard others > 0, sum > 0 else { return }
        for index in cohorts.indices { cohorts[index].seen += others * chances[index] / sum }
    }

    /// An event of this process, whose offer is known by its age.
    mutating func seen(after seconds: Double) {
        observed(lag: seconds)
        let rest = exp(-seconds / lag)
        let found = cohorts.indices.filter { cohorts[$0].unseen > 0 }.min { abs(cohorts[$0].rest - rest) < abs(cohorts[$1].rest - rest) }
        guard let found else { return }
        cohorts[found].seen += 1
        matched += 1
    }

    mutating func observed(lag seconds: Double) {
        lagCount += 1
        // The first lags count for more, so that small goals do not wait for the assumed lag.
        let gain = max(0.05, 1.5 / (lagCount + 1))
        lag = min(max(lag * exp(gain * (seconds <= lag ? -0.37 : 0.63)), Self.lags.lowerBound), Self.lags.upperBound)
    }

    mutating func restore(offers: Int64, seen: Int64, in seconds: Double) {
        (passed, views) = (Double(offers), Double(seen))
        cohorts = offers > 0 ? [Cohort(offers: Double(offers), seen: Double(seen), rest: min(1, lag / max(1, seconds)))] : []
    }
}
