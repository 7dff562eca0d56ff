internal import Foundation
internal import Synchronization

final class TimeZoneOffsets: Sendable {
    private struct Interval: Sendable {
        var start: Int64
        var offset: Int64
    }

    private static let day: Int64 = 86_400_000
    private static let (from, until): (Int64, Int64) = (946_684_800_000, 4_102_444_800_000)
    private static let step: Int64 = 14 * day
    private static let minute: Int64 = 60_000
    /// A cache by zone name. Why: The computation takes some milliseconds, a few hundred zones exist, and many campaigns share a zone.
    private static let known = Mutex<[String: TimeZoneOffsets]>([:])

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

    static func named(_ name: String) -> TimeZoneOffsets? {
        if let clocks = known.withLock({ $0[name] }) { return clocks }
        guard let zone = TimeZone(identifier: name) else { return nil }
        let clocks = TimeZoneOffsets(zone)
        known.withLock { $0[name] = clocks }
        return clocks
    }

    func offset(at moment: Int64) -> Int64 { intervals[index(at: moment)].offset }

    func day(of moment: Int64) -> Range<Int64> {
        let number = Self.local(moment + offset(at: moment)).day
        let start = min(start(ofDay: number), moment)
        return start..<max(self.start(ofDay: number + 1), moment + 1)
    }

    func forEachInterval(from start: Int64, to end: Int64, _ body: (_ start: Int64, _ end: Int64, _ offset: Int64) -> Void) {
        guard start < end else { return }
        var (index, start) = (index(at: start), start)
        while start < end {
            let next = index + 1 < intervals.count ? min(end, intervals[index + 1].start) : end
            body(start, next, intervals[index].offset)
            (index, start) = (index + 1, next)
        }
    }

    /// Returns the day of a local time in milliseconds since 1970-01-01, and the milliseconds since its start.
    static func local(_ moment: Int64) -> (day: Int64, rest: Int64) {
        let number = moment >= 0 ? moment / day : (moment + 1) / day - 1
        return (number, moment - number * day)
    }

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
