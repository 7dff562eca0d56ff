import GRDB
import IntertwineFeed

/// Tables of totals and sketches in the ledger's file, which are aggregated from the events after a marker.
///
/// The marker advances in the transaction that adds the events. Each event is therefore counted once, whichever process aggregates it,
/// and clicks have no additional cost.
struct ReportTables {
    enum RollupCheckpoint: String {
        case totals, viewers, trackers
    }

    static func marker(of tally: RollupCheckpoint, _ database: any SQLConnection) throws -> Int64 {
        try SQLStatement.integer(database, "SELECT marker FROM report_marker WHERE tally = ?1", .text(tally.rawValue)) ?? 0
    }

    static func setMarker(of tally: RollupCheckpoint, to marker: Int64, _ database: Database) throws {
        try SQLStatement.run(
            database,
            """
            INSERT INTO report_marker (tally, marker) VALUES (?1, ?2) ON CONFLICT (tally) DO UPDATE SET marker = max(marker, ?2)
            """, .text(tally.rawValue), .integer(marker))
    }

    // MARK: Totals

    static func add(_ totals: ReportTotals, _ database: Database) throws {
        let ads = try totals.ads.values.map { try id(of: $0, database) }
        let placementIDs = try totals.placements.values.map { try id(of: $0, database) }
        let add = try SQLStatement(
            database,
            """
            INSERT INTO report_total (combination, time, ad, place, kind, count) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (combination, time, ad, place, kind) DO UPDATE SET count = count + ?6
            """)
        for (total, count) in totals.counts {
            try add.bind(1, total.combination.rawValue)
            try add.bind(2, total.time)
            try add.bind(3, total.ad > 0 ? ads[total.ad - 1] : 0)
            try add.bind(4, total.placement > 0 ? placementIDs[total.placement - 1] : 0)
            try add.bind(5, totals.kinds.values[total.kind - 1].rawValue)
            try add.bind(6, count)
            try add.run()
        }
    }

    private static func id(of ad: ReportTotals.Ad, _ database: Database) throws -> Int64 {
        let texts: [SQLValue] = [ad.cell, ad.campaign, ad.creative, ad.advertiser].map { .text($0.text) }
        return try id(
            database, "SELECT id FROM report_ad WHERE cell = ?1 AND campaign = ?2 AND creative = ?3 AND advertiser = ?4",
            "INSERT INTO report_ad (cell, campaign, creative, advertiser) VALUES (?1, ?2, ?3, ?4)", texts)
    }

    private static func id(of placementKey: ReportTotals.PlacementKey, _ database: Database) throws -> Int64 {
        try id(
            database, "SELECT id FROM report_place WHERE feed = ?1 AND section = ?2 AND position = ?3",
            "INSERT INTO report_place (feed, section, position) VALUES (?1, ?2, ?3)",
            [.text(placementKey.feed.text), .text(placementKey.section.text), .integer(placementKey.position)])
    }

    private static func id(_ database: Database, _ find: String, _ insert: String, _ values: [SQLValue]) throws -> Int64 {
        let found = try SQLStatement(database, find)
        try found.bind(values)
        defer { found.reset() }
        if try found.step() { return found.integer(0) }
        let statement = try SQLStatement(database, insert)
        try statement.bind(values)
        try statement.run()
        return database.lastInsertedRowID
    }

    // MARK: Sketches

    static func merge(_ sketches: ArraySlice<(key: ReportViewers.Subject, value: UniqueViewersSketch)>, _ database: Database) throws {
        let find = try SQLStatement(database, "SELECT sketch FROM report_viewers WHERE grouping = ?1 AND key = ?2 AND day = ?3")
        let store = try SQLStatement(
            database,
            """
            INSERT INTO report_viewers (grouping, key, day, sketch) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (grouping, key, day) DO UPDATE SET sketch = ?4
            """)
        for (subject, sketch) in sketches {
            func bind(_ statement: SQLStatement) throws {
                try statement.bind(1, subject.grouping)
                try statement.bind(2, subject.key.text)
                try statement.bind(3, subject.day)
            }
            try bind(find)
            let before = try find.step() ? UniqueViewersSketch(find.bytes(0)) : nil
            find.reset()
            var merged = before ?? UniqueViewersSketch()
            merged.merge(sketch)
            guard merged != before else { continue }
            try bind(store)
            try store.bind(4, blob: merged.bytes)
            try store.run()
        }
    }

    /// Returns the estimated number of different viewers in the sketches of a range of days.
    static func viewers(_ grouping: String, _ key: String, _ days: ClosedRange<Int64>, _ database: any SQLConnection) throws -> Int {
        let find = try SQLStatement(
            database, "SELECT sketch FROM report_viewers WHERE grouping = ?1 AND key = ?2 AND day BETWEEN ?3 AND ?4")
        defer { find.reset() }
        try find.bind(1, grouping)
        try find.bind(2, key)
        try find.bind(3, days.lowerBound)
        try find.bind(4, days.upperBound)
        var all = UniqueViewersSketch()
        while try find.step() { if let sketch = UniqueViewersSketch(find.bytes(0)) { all.merge(sketch) } }
        return all.estimate
    }

    // MARK: Removing

    /// Removes a batch of hours and sketches before a time; false if there was nothing to remove.
    static func removeSome(before moment: Int64, _ database: Database) throws -> Bool {
        var isChanged = false
        for combination in ReportTotals.Dimensions.allCases where combination.isHourly {
            let first = try SQLStatement.integer(
                database, "SELECT min(time) FROM report_total WHERE combination = ?1", .integer(combination.rawValue))
            guard let first, first < moment / 3_600_000 else { continue }
            try SQLStatement.run(
                database, "DELETE FROM report_total WHERE combination = ?1 AND time <= ?2", .integer(combination.rawValue), .integer(first))
            isChanged = true
        }
        try SQLStatement.run(
            database,
            "DELETE FROM report_viewers WHERE id IN (SELECT id FROM report_viewers WHERE day < ?1 ORDER BY day LIMIT 200)",
            .integer(moment / 86_400_000))
        return isChanged || database.changesCount > 0
    }
}
