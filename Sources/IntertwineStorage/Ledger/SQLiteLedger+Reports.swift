import IntertwineFeed

/// Aggregation of totals and sketches, and reports that are read from them.
extension SQLiteLedger {
    /// The limit of events that are read at once and added in one transaction: some thousand rows, which delay clicks by a few milliseconds.
    private static let batch = 4_000
    /// The numbers of events and of subjects after which sketches are written, whichever is reached first.
    private static let sketched = (events: 100_000, subjects: 2_000)
    /// The limit of sketches in one transaction.
    private static let sketchBatch = 32

    package func gatherTotals(withViewers: Bool) async throws {
        try await StoreError.wrapping {
            try await gatherCounts(isUrgent: false)
            if withViewers { try await gatherViewers(isUrgent: false) }
        }
    }

    private func marker(of tally: ReportTables.RollupCheckpoint) async throws -> Int64 {
        try await read(for: .background) { try ReportTables.marker(of: tally, $0) }
    }

    /// Adds all events so far to the totals, or at least those before a time.
    ///
    /// - Parameter isUrgent: true if a caller waits. Otherwise the task sleeps between batches as long as each batch took.
    func gatherCounts(before moment: Int64 = .max, isUrgent: Bool = true) async throws {
        let written = try await read(for: .background) { try SQLStatement.integer($0, "SELECT max(id) FROM event") } ?? 0
        // This process has already added up its own events. Other processes may have written later events.
        let recent = try await commits.inTurn { $0.drainRecent(.totals) }
        if let recent, try await applyRecent(recent), recent.last >= written { return }
        let end = max(written, recent?.last ?? 0)
        var marker = try await marker(of: .totals)
        while true {
            let began = ContinuousClock.now
            let before = marker
            let found = try await read(for: .background) { database in
                try EventBatch(after: before, through: end, limit: Self.batch, database).map {
                    ($0, try $0.totals(database))
                }
            }
            guard let (range, totals) = found else { return }
            let isTaken = try await commits.sweep { database in
                // Another process may have added these events.
                guard try ReportTables.marker(of: .totals, database) == before else { return false }
                try ReportTables.add(totals, database)
                try ReportTables.setMarker(of: .totals, to: range.last, database)
                return true
            }
            guard range.earliest < moment else { return }
            marker = isTaken ? range.last : try await self.marker(of: .totals)
            if !isUrgent { try await Task.sleep(for: began.duration(to: .now)) }
        }
    }

    /// Adds the counts of recent events. Returns false if other events precede them after the marker; all of them are then read.
    private func applyRecent(_ recent: EventTail) async throws -> Bool {
        try await commits.sweep { database in
            guard try ReportTables.marker(of: .totals, database) == recent.after else { return false }
            var totals = ReportTotals()
            for (event, count) in recent.counted { totals.add(event, count: count) }
            try ReportTables.add(totals, database)
            try ReportTables.setMarker(of: .totals, to: recent.last, database)
            return true
        }
    }

    /// Adds all events so far to the sketches, or at least those before a time. Adding an event twice changes nothing.
    ///
    /// - Parameter isUrgent: as in ``gatherCounts(before:isUrgent:)``.
    func gatherViewers(before moment: Int64 = .max, isUrgent: Bool = true) async throws {
        var marker = try await marker(of: .viewers)
        var isOver = false
        while !isOver {
            var (viewers, count) = (ReportViewers(), 0)
            let start = marker
            while count < Self.sketched.events, viewers.sketches.count < Self.sketched.subjects {
                let began = ContinuousClock.now
                let before = marker
                let found = try await read(for: .background) { database in
                    try EventBatch(after: before, limit: Self.batch, database).map { ($0, try $0.seen(database)) }
                }
                guard let (range, events) = found else {
                    isOver = true
                    break
                }
                for event in events { viewers.add(event) }
                count += events.count
                marker = range.last
                guard range.earliest < moment else {
                    isOver = true
                    break
                }
                if !isUrgent { try await Task.sleep(for: began.duration(to: .now)) }
            }
            guard marker > start else { return }
            let (sketches, end) = (Array(viewers.sketches), marker)
            for first in stride(from: 0, to: sketches.count, by: Self.sketchBatch) {
                let part = sketches[first..<min(first + Self.sketchBatch, sketches.count)]
                try await commits.sweep { try ReportTables.merge(part, $0) }
            }
            try await commits.sweep { try ReportTables.setMarker(of: .viewers, to: end, $0) }
        }
    }

    /// Removes hours and sketches older than the retention of events; totals by day remain.
    func removeReports(before moment: Int64) async throws {
        while try await StoreError.wrapping({ try await commits.sweep { try ReportTables.removeSome(before: moment, $0) } }) {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Returns a report that is read from the totals.
    static func totals(_ question: LedgerReport.Query, _ database: any SQLConnection) throws -> LedgerReport {
        let combination = ReportTotals.Dimensions(of: question.groupings)
        let length: Int64 = combination.isHourly ? 24 : 1
        let statement = try SQLStatement(
            database, "SELECT time, ad, place, kind, count FROM report_total WHERE combination = ?1 AND time BETWEEN ?2 AND ?3")
        defer { statement.reset() }
        try statement.bind(1, combination.rawValue)
        try statement.bind(2, Int64(question.days.lowerBound) &* length)
        try statement.bind(3, (Int64(question.days.upperBound) &+ 1) &* length - 1)
        var keys = try ReportKeys(question, isHourly: combination.isHourly, database)
        var kinds: [String: Int] = [:]
        var counts: [ReportKeys.Group: [Int]] = [:]
        let isOfAdvertisements = question.groupings.contains(where: \.isOfAdvertisements)
        while try statement.step() {
            let ad = statement.integer(1)
            if ad == 0, isOfAdvertisements { continue }
            let group = try keys.group(time: statement.integer(0), ad: ad, placement: statement.integer(2))
            let text = statement.text(3)
            let kind = kinds[text] ?? kinds.count
            kinds[text] = kind
            Self.add(Int(statement.integer(4)), of: kind, to: &counts[group, default: []])
            guard counts.count <= LedgerReport.rowLimit else { throw LedgerReport.TooManyRowsError() }
        }
        let names = kinds.sorted { $0.value < $1.value }.map { LedgerEvent.Kind(rawValue: $0.key) }
        let made = counts.map { group, counts in
            let (key, second) = keys.keys(of: group)
            let row = zip(names, counts).filter { $1 > 0 }
            return LedgerReport.Row(key: key, second: second, counts: Dictionary(row) { $0 + $1 })
        }
        return LedgerReport(
            rows: made.sorted { one, other in
                for (left, right) in zip(one.keys, other.keys) where left != right { return left.comes(before: right) }
                return false
            })
    }

    private static func add(_ count: Int, of kind: Int, to counts: inout [Int]) {
        while counts.count <= kind { counts.append(0) }
        counts[kind] += count
    }

    /// Adds the estimated numbers of different viewers to a report.
    static func countViewers(in report: inout LedgerReport, of question: LedgerReport.Query, _ database: any SQLConnection) throws {
        let grouping = question.groupings.first { $0 != .day } ?? .day
        for index in report.rows.indices {
            let (key, days) = ReportViewers.subject(report.rows[index], of: question)
            report.rows[index].viewers = try ReportTables.viewers(grouping.rawValue, key, days, database)
        }
    }
}

/// The keys of a report's groups as numbers. Most rows share their keys with other rows.
private struct ReportKeys {
    struct Group: Hashable {
        var first: Int64
        /// The number of the second key; 0 if there is no second grouping.
        var second: Int64
    }

    private let by: LedgerReport.Grouping
    private let and: LedgerReport.Grouping?
    private let isHourly: Bool
    private let findAd: SQLStatement
    private let findPlacement: SQLStatement
    private var texts: [String] = []
    private var numbers: [ByteString: Int64] = [:]
    private var ads: [Int64: [Int64]] = [:]
    private var placements: [Int64: [Int64]] = [:]

    init(_ question: LedgerReport.Query, isHourly: Bool, _ database: any SQLConnection) throws {
        (by, and) = (question.by, question.and)
        self.isHourly = isHourly
        findAd = try SQLStatement(database, "SELECT cell, campaign, creative, advertiser FROM report_ad WHERE id = ?1")
        findPlacement = try SQLStatement(database, "SELECT feed, section, position FROM report_place WHERE id = ?1")
    }

    mutating func group(time: Int64, ad: Int64, placement: Int64) throws -> Group {
        Group(
            first: try number(by, time, ad, placement), second: try and.map { try number($0, time, ad, placement) } ?? 0)
    }

    private mutating func number(_ grouping: LedgerReport.Grouping, _ time: Int64, _ ad: Int64, _ placementID: Int64) throws -> Int64 {
        switch grouping {
        case .day, .verdict, .reason, .choice: isHourly ? time / 24 : time
        case .hour: time
        case .ad: try self.ad(ad)[0]
        case .campaign: try self.ad(ad)[1]
        case .creative: try self.ad(ad)[2]
        case .advertiser: try self.ad(ad)[3]
        case .feed: try self.placement(placementID)[0]
        case .section: try self.placement(placementID)[1]
        case .position: try self.placement(placementID)[2]
        }
    }

    func keys(of group: Group) -> (LedgerReport.Key, LedgerReport.Key?) {
        (key(by, group.first), and.map { key($0, group.second) })
    }

    private func key(_ grouping: LedgerReport.Grouping, _ number: Int64) -> LedgerReport.Key {
        switch grouping {
        case .day, .verdict, .reason, .choice: .day(Int(number))
        case .hour: .hour(Int(number))
        case .ad: .ad(texts[Int(number)])
        case .campaign, .creative, .advertiser, .feed, .section: .name(texts[Int(number)])
        case .position: .position(number < 0 ? nil : Int(number))
        }
    }

    private mutating func ad(_ id: Int64) throws -> [Int64] {
        if let known = ads[id] { return known }
        try findAd.bind(1, id)
        defer { findAd.reset() }
        let isFound = try findAd.step()
        let found = (0..<4).map { number(of: isFound ? findAd.text($0) : "") }
        ads[id] = found
        return found
    }

    private mutating func placement(_ id: Int64) throws -> [Int64] {
        if let known = placements[id] { return known }
        try findPlacement.bind(1, id)
        defer { findPlacement.reset() }
        let isFound = try findPlacement.step()
        let found = (0..<2).map { number(of: isFound ? findPlacement.text($0) : "") } + [isFound ? findPlacement.integer(2) : -1]
        placements[id] = found
        return found
    }

    private mutating func number(of text: String) -> Int64 {
        if let number = numbers[ByteString(text)] { return number }
        numbers[ByteString(text)] = Int64(texts.count)
        texts.append(text)
        return Int64(texts.count - 1)
    }
}

extension LedgerReport.Key {
    /// Returns true if this key precedes another one of the same grouping.
    fileprivate func comes(before other: Self) -> Bool {
        switch (self, other) {
        case (.day(let one), .day(let other)), (.hour(let one), .hour(let other)): one < other
        case (.position(let one), .position(let other)): (one ?? -1) < (other ?? -1)
        default: text.utf8.lexicographicallyPrecedes(other.text.utf8)
        }
    }
}
