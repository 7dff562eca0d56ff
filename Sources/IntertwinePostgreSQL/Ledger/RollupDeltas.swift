internal import IntertwineFeed
internal import IntertwineStorageCore

/// Counts by day, cell, kind and verdict, and deliveries of campaigns by quarter of an hour. A group of units gathers them.
/// They are written with the group to rows of the replica's own slot, so that replicas never wait for each other's counts.
struct RollupDeltas {
    private struct Key: Hashable {
        var day: Int64
        var cell: ByteString
        var kind: LedgerEvent.Kind
        var verdict: Verdict
    }

    private struct DeliveryDelta: Hashable {
        var campaign: ByteString
        var kind: LedgerEvent.Kind
        var span: Int64
    }

    private struct Chosen: Hashable {
        var day: Int64
        var field: ByteString
        var value: ByteString
        var kind: LedgerEvent.Kind
    }

    /// In the column for it: all in all.
    private static let everySpan: Int64 = -1

    /// The counts of the group that is being written.
    private var counts: [Key: Int64] = [:]
    /// The counts of earlier groups that had no other writes. See ``postpone()``.
    private var waiting: [Key: Int64] = [:]
    /// True if the group has counts that must be committed with it.
    private(set) var isDue = false
    /// The deliveries of campaigns. A counted event always has a row, so these never wait for another group.
    private var delivered: [DeliveryDelta: Int64] = [:]
    /// The choices in the input of events that count.
    private var choices: [Chosen: Int64] = [:]

    /// True if there is nothing to write.
    var isEmpty: Bool { counts.isEmpty && waiting.isEmpty }

    /// - Parameter mayDefer: whether the count may be written after the group's response.
    mutating func count(_ event: LedgerEvent, as verdict: Verdict, _ count: Int64 = 1, mayDefer: Bool) {
        if !mayDefer { isDue = true }
        counts[Key(day: LedgerTime.day(of: event.at), cell: ByteString(event.cell), kind: event.kind, verdict: verdict), default: 0] +=
            count
        guard verdict == .counted else { return }
        for choice in event.input?.choices ?? [] {
            let chosen = Chosen(
                day: LedgerTime.day(of: event.at), field: ByteString(choice.field), value: ByteString(choice.value), kind: event.kind)
            choices[chosen, default: 0] += count
        }
        guard let campaign = event.showing?.campaign else { return }
        for span in [Self.everySpan, LedgerTime.span(of: event.at)] {
            delivered[DeliveryDelta(campaign: ByteString(campaign), kind: event.kind, span: span), default: 0] += 1
        }
    }

    /// Returns the commands that write all counts. The counts are kept until ``hasCommitted()`` or, for the group's own part, ``discard()``.
    func commands(slot: Int64) -> [SQLCommand] {
        struct Day: Hashable {
            var day: Int64
            var kind: LedgerEvent.Kind
            var verdict: Verdict
        }
        let cells = counts.merging(waiting, uniquingKeysWith: +).sorted { one, other in
            (one.key.day, one.key.verdict.rawValue, one.key.cell.text, one.key.kind.rawValue)
                < (other.key.day, other.key.verdict.rawValue, other.key.cell.text, other.key.kind.rawValue)
        }
        var commands: [SQLCommand] = []
        if !cells.isEmpty {
            var days: [Day: Int64] = [:]
            for (key, count) in cells { days[Day(day: key.day, kind: key.kind, verdict: key.verdict), default: 0] += count }
            let sorted = days.sorted {
                ($0.key.day, $0.key.kind.rawValue, $0.key.verdict.rawValue) < ($1.key.day, $1.key.kind.rawValue, $1.key.verdict.rawValue)
            }
            commands.append(
                SQLCommand(
                    """
                    INSERT INTO rollup_cell AS kept (slot, day, verdict, cell, kind, count)
                    SELECT $1, new.* FROM unnest($2, $3, $4, $5, $6) AS new
                    ON CONFLICT (day, verdict, cell, kind, slot) DO UPDATE SET count = kept.count + excluded.count
                    """,
                    [
                        .integer(slot), .integers(cells.map(\.key.day)), .texts(cells.map(\.key.verdict.rawValue)),
                        .texts(cells.map(\.key.cell.text)), .texts(cells.map(\.key.kind.rawValue)), .integers(cells.map(\.value)),
                    ]))
            commands.append(
                SQLCommand(
                    """
                    INSERT INTO rollup_day AS kept (slot, day, kind, verdict, count) SELECT $1, new.* FROM unnest($2, $3, $4, $5) AS new
                    ON CONFLICT (day, kind, verdict, slot) DO UPDATE SET count = kept.count + excluded.count
                    """,
                    [
                        .integer(slot), .integers(sorted.map(\.key.day)), .texts(sorted.map(\.key.kind.rawValue)),
                        .texts(sorted.map(\.key.verdict.rawValue)), .integers(sorted.map(\.value)),
                    ]))
        }
        if !delivered.isEmpty {
            let sorted = delivered.sorted {
                ($0.key.campaign.text, $0.key.kind.rawValue, $0.key.span) < ($1.key.campaign.text, $1.key.kind.rawValue, $1.key.span)
            }
            commands.append(
                SQLCommand(
                    """
                    INSERT INTO delivery AS kept (slot, campaign, kind, span, count) SELECT $1, new.* FROM unnest($2, $3, $4, $5) AS new
                    ON CONFLICT (campaign, kind, span, slot) DO UPDATE SET count = kept.count + excluded.count
                    """,
                    [
                        .integer(slot), .texts(sorted.map(\.key.campaign.text)), .texts(sorted.map(\.key.kind.rawValue)),
                        .integers(sorted.map(\.key.span)), .integers(sorted.map(\.value)),
                    ]))
        }
        if !choices.isEmpty {
            let sorted = choices.sorted { one, other in
                (one.key.day, one.key.field.text, one.key.value.text, one.key.kind.rawValue)
                    < (other.key.day, other.key.field.text, other.key.value.text, other.key.kind.rawValue)
            }
            commands.append(
                SQLCommand(
                    """
                    INSERT INTO rollup_choice AS kept (slot, day, field, value, kind, count)
                    SELECT $1, new.* FROM unnest($2, $3, $4, $5, $6) AS new
                    ON CONFLICT (day, field, value, kind, slot) DO UPDATE SET count = kept.count + excluded.count
                    """,
                    [
                        .integer(slot), .integers(sorted.map(\.key.day)), .texts(sorted.map(\.key.field.text)),
                        .texts(sorted.map(\.key.value.text)), .texts(sorted.map(\.key.kind.rawValue)), .integers(sorted.map(\.value)),
                    ]))
        }
        return commands
    }

    mutating func hasCommitted() {
        discard()
        waiting.removeAll(keepingCapacity: true)
    }

    /// Leaves the group's part to the next that writes anything.
    mutating func postpone() {
        waiting.merge(counts, uniquingKeysWith: +)
        discard()
    }

    /// The group was rolled back.
    mutating func discard() {
        counts.removeAll(keepingCapacity: true)
        delivered.removeAll(keepingCapacity: true)
        choices.removeAll(keepingCapacity: true)
        isDue = false
    }
}
