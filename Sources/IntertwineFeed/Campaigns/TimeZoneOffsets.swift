internal import Foundation
internal import Synchronization

/// How far the clocks of a zone are ahead of UTC, and since when: what days and hours of any length are made of. In milliseconds.
///
/// Changes of the clocks are known from 2000 to 2100; before and after, clocks stay as they are there.
final class TimeZoneOffsets: Sendable {
    /// From the start on, until the next one's.
    private struct Interval: Sendable {
        var start: Int64
        var offset: Int64
    }

    private static let day: Int64 = 86_400_000
    private static let (from, until): (Int64, Int64) = (946_684_800_000, 4_102_444_800_000)
    /// No zone changes its clocks twice in so short a time.
    private static let step: Int64 = 14 * day
    private static let minute: Int64 = 60_000
    /// What was found out takes some milliseconds: there are a few hundred zones, and many campaigns of one.
    private static let known = Mutex<[String: TimeZoneOffsets]>([:])

    /// In the order of time; the first one starts before all time.
    private let intervals: [Interval]

    init(seconds: Int64) {
        intervals = [Interval(start: .min, offset: seconds * 1_000)]
    }

    private init(_ zone: TimeZone) {
        func offset(_ moment: Int64) -> Int64 {
            Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment) / 1_000))) * 1_000
        }
        var stretches = [Interval(start: .min, offset: offset(Self.from))]
        var last = (at: Self.from, offset: offset(Self.from))
        while last.at < Self.until {
            let (at, new) = (last.at + Self.step, offset(last.at + Self.step))
            if new != last.offset {
                var (low, high) = (last.at / Self.minute, at / Self.minute)
                while high - low > 1 {
                    let middle = (low + high) / 2
                    if offset(middle * Self.minute) == last.offset { low = middle } else { high = middle }
                }
                stretches.append(Interval(start: high * Self.minute, offset: new))
            }
            last = (at, new)
        }
        self.intervals = stretches
    }

    /// Nil where the database has no such zone.
    static func named(_ name: String) -> TimeZoneOffsets? {
        if let clocks = known.withLock({ $0[name] }) { return clocks }
        guard let zone = TimeZone(identifier: name) else { return nil }
        let clocks = TimeZoneOffsets(zone)
        known.withLock { $0[name] = clocks }
        return clocks
    }

    func offset(at moment: Int64) -> Int64 { intervals[index(at: moment)].offset }

    /// The day of a moment, from midnight to midnight: of 23 or of 25 hours where clocks are changed.
    func day(of moment: Int64) -> Range<Int64> {
        let number = Self.local(moment + offset(at: moment)).day
        let start = min(start(ofDay: number), moment)
        return start..<max(self.start(ofDay: number + 1), moment + 1)
    }

    /// Calls with each part of a time in which clocks were not changed.
    func forEachInterval(from start: Int64, to end: Int64, _ body: (_ start: Int64, _ end: Int64, _ offset: Int64) -> Void) {
        guard start < end else { return }
        var (index, start) = (index(at: start), start)
        while start < end {
            let next = index + 1 < intervals.count ? min(end, intervals[index + 1].start) : end
            body(start, next, intervals[index].offset)
            (index, start) = (index + 1, next)
        }
    }

    /// The day of clocks that show so many milliseconds since 1970-01-01, and how far into it they are.
    static func local(_ moment: Int64) -> (day: Int64, rest: Int64) {
        let number = moment >= 0 ? moment / day : (moment + 1) / day - 1
        return (number, moment - number * day)
    }

    /// When the clocks first show the day; where they leap over its midnight, when they leap.
    private func start(ofDay number: Int64) -> Int64 {
        let midnight = number * Self.day
        var index = index(at: midnight - 2 * Self.day)
        while true {
            let start = max(intervals[index].start, midnight - intervals[index].offset)
            guard index + 1 < intervals.count, start >= intervals[index + 1].start else { return start }
            index += 1
        }
    }

    private func index(at moment: Int64) -> Int {
        var (low, high) = (0, intervals.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if intervals[middle].start <= moment { low = middle } else { high = middle - 1 }
        }
        return low
    }
}
