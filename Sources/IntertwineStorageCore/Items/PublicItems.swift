internal import IntertwineFeed
internal import IntertwinePrimitives

package struct ScheduleState: Sendable, Hashable {
    /// The next time at which an item becomes public or expires, and the database's clock, in milliseconds since 1970-01-01 UTC.
    package var next: Int64?
    package var now: Int64
}

/// The items that are not public.
package struct HiddenItems: Sendable, Hashable {
    package private(set) var digest = 0
    /// The URLs in them, without those that public items have too.
    package fileprivate(set) var urls: Set<String> = []

    package init() {}

    fileprivate mutating func add(_ kind: String, _ id: String) { digest ^= ItemKey(kind: kind, id: id).hashValue }
}

/// The items that are public: those in the streams of their sections. An item that is not public has the same position in a hidden stream,
/// whose number is negative. Why: pages read streams, so hidden items cost them nothing.
/// The column `due` has the next time at which this changes; 0 in a transaction that has changed the schedule.
package enum PublicItems {
    private static let batch = 1_000

    static func condition(_ stream: String) -> String { "lane IN (\(stream), -1 - \(stream))" }

    static let stream = "CASE WHEN lane < 0 THEN -1 - lane ELSE lane END"

    /// Two reads of an index, because a condition on two streams would read all of their rows.
    static func outermost(_ end: String, of stream: String, _ condition: String = "") -> String {
        "SELECT \(end)(place) FROM (SELECT \(end)(position) AS place FROM item WHERE lane = \(stream)\(condition) "
            + "UNION ALL SELECT \(end)(position) FROM item WHERE lane = -1 - \(stream)\(condition)) AS ends"
    }

    private static func now<Session: SQLSession>(_ session: Session) -> (text: String, values: [SQLValue]) {
        Session.dialect.isPostgreSQL
            ? ("(extract(epoch FROM statement_timestamp()) * 1000)::bigint", []) : ("?1", [.integer(WallClock.now())])
    }

    static func state<Session: SQLSession>(_ session: Session) throws -> ScheduleState {
        let now = now(session)
        var state = ScheduleState(now: 0)
        let next = "(SELECT due FROM item WHERE due IS NOT NULL ORDER BY due LIMIT 1)"
        try session.run([SQLCommand("SELECT \(next), \(now.text)", now.values)]) {
            state = ScheduleState(next: $1.optionalInteger(0), now: $1.integer(1))
        }
        return state
    }

    package static func settle<Session: SQLSession>(_ session: Session) throws {
        let now = now(session)
        let select = "SELECT lane, position, body, \(now.text) FROM item WHERE due <= \(now.text) ORDER BY due LIMIT \(batch)"
        while true {
            var (lanes, positions, targets, dues) = ([Int64](), [Int64](), [Int64](), [Int64?]())
            try session.run([SQLCommand(select, now.values)]) { _, row in
                let (lane, schedule, now) = (row.integer(0), ItemSchedule(body: row.view(2)), row.integer(3))
                let isPublic = schedule?.isPublic(at: now) ?? true
                lanes.append(lane)
                positions.append(row.integer(1))
                targets.append(isPublic == (lane >= 0) ? lane : -1 - lane)
                dues.append(schedule?.next(after: now))
            }
            guard !lanes.isEmpty else { return }
            try session.write(
                """
                UPDATE item SET lane = settled.target, due = settled.next
                FROM \(Session.dialect.table("settled", ["stream", "place", "target", "next"]))
                WHERE item.lane = settled.stream AND item.position = settled.place
                """, .integers(lanes), .integers(positions), .integers(targets), .integers(dues))
        }
    }

    static func hiddenItems<Session: SQLSession>(_ session: Session) throws -> HiddenItems {
        var hidden = HiddenItems()
        try session.run([SQLCommand("SELECT kind, id, body FROM item WHERE lane < 0")]) {
            hidden.add($1.text(0), $1.text(1))
            if hidden.urls.count < ItemLinks.takedownLimit { hidden.urls.formUnion(ItemLinks.urls(inBody: $1.view(2))) }
        }
        // A picture that a public item shows too, such as its author's, stays.
        var last: (stream: Int64, position: Int64)? = (-1, .max)
        while !hidden.urls.isEmpty, let start = last {
            last = nil
            let (stream, position) = (SQLValue.integer(start.stream), SQLValue.integer(start.position))
            let rows = "SELECT lane, position, body FROM item WHERE (lane, position) > (?1, ?2) ORDER BY lane, position LIMIT \(batch)"
            try session.run([SQLCommand(rows, [stream, position])]) {
                last = ($1.integer(0), $1.integer(1))
                for url in ItemLinks.urls(inBody: $1.view(2)) { hidden.urls.remove(url) }
            }
        }
        return hidden
    }
}
