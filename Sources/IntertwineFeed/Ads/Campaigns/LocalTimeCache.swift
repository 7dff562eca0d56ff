/// It is computed once per quarter of an hour, because days, hours and offset changes begin at quarters.
struct LocalTimeCache {
    struct Time {
        fileprivate var quarter = Int64.min
        /// The offset of the zone from UTC, in milliseconds.
        fileprivate(set) var offset: Int64 = 0
        fileprivate(set) var day: Range<Int64> = 0..<0
    }

    private static let quarter: Int64 = 900_000

    private var zones: [(clocks: TimeZoneOffsets, now: Time)] = []

    mutating func add(_ clocks: TimeZoneOffsets) -> Int {
        zones.append((clocks, Time()))
        return zones.count - 1
    }

    mutating func time(in zone: Int, at moment: Int64) -> Time {
        let quarter = moment / Self.quarter
        if zones[zone].now.quarter != quarter {
            let clocks = zones[zone].clocks
            zones[zone].now = Time(quarter: quarter, offset: clocks.offset(at: moment), day: clocks.day(of: moment))
        }
        return zones[zone].now
    }

    func day(in zone: Int, at moment: Int64) -> Range<Int64> { zones[zone].clocks.day(of: moment) }

    static func end(of moment: Int64) -> Int64 { (moment / quarter + 1) * quarter }
}
