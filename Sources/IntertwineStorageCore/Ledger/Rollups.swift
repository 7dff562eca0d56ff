package import IntertwineFeed

/// Counts by day, cell, kind and verdict, and campaign deliveries by quarters of an hour.
///
/// The counts of a group of units are accumulated and written once before its commit. Counts of repeated impressions and forgeries,
/// which have no row, are written within a second.
package struct Rollups {
    /// A row of the rollups of a day. The cell is empty in the total of a day.
    package struct Key: Hashable {
        package var day: Int64
        package var cell: ByteString
        package var kind: LedgerEvent.Kind
        package var verdict: Verdict
    }

    package struct Delivery: Hashable {
        package var campaign: ByteString
        package var kind: LedgerEvent.Kind
        /// A quarter of an hour; -1 for the total of all time.
        package var span: Int64
    }

    package struct Choice: Hashable {
        package var day: Int64
        package var field: ByteString
        package var value: ByteString
        package var kind: LedgerEvent.Kind
    }

    /// The counts to add to the rows of the tables.
    package struct Sums {
        package fileprivate(set) var cells: [Key: Int64] = [:]
        package fileprivate(set) var days: [Key: Int64] = [:]
        package fileprivate(set) var deliveries: [Delivery: Int64] = [:]
        package fileprivate(set) var choices: [Choice: Int64] = [:]
    }

    /// The value of the span column for the total of all time.
    private static let everySpan: Int64 = -1

    /// The events of the group that is being written.
    package private(set) var counts: [EventGroupKey: Int64] = [:]
    /// Counts of earlier groups that had nothing else to write, see ``postpone()``. Events with the verdict `counted` have rows and never wait.
    private var waiting: [EventGroupKey: Int64] = [:]
    /// Choices in the input of the group's events. Their events have rows, so the choices never wait for another group.
    private var choices: [Choice: Int64] = [:]
    /// A Boolean value indicating whether the group has counts that must be committed with it.
    package private(set) var isDue = false

    package init() {}

    /// Adds events to the counts of the group.
    ///
    /// - Parameter mayDefer: true if the count may be written after the group's response.
    mutating func count(_ event: LedgerEvent, as verdict: Verdict, _ count: Int64 = 1, mayDefer: Bool) {
        if !mayDefer { isDue = true }
        counts[EventGroupKey(event, as: verdict), default: 0] += count
        guard verdict == .counted, let input = event.input else { return }
        for choice in input.choices {
            let chosen = Choice(
                day: LedgerTime.day(of: event.at), field: ByteString(choice.field), value: ByteString(choice.value), kind: event.kind)
            choices[chosen, default: 0] += count
        }
    }

    /// A Boolean value indicating whether there is nothing to write.
    package var isEmpty: Bool { counts.isEmpty && waiting.isEmpty }

    /// All counts. They are kept until ``hasCommitted()`` or, for the counts of the group, ``discard()``.
    package var sums: Sums {
        var sums = Sums(choices: choices)
        for (group, count) in waiting.isEmpty ? counts : counts.merging(waiting, uniquingKeysWith: +) {
            var key = Key(day: group.day, cell: group.cell, kind: group.kind, verdict: group.verdict)
            sums.cells[key, default: 0] += count
            key.cell = ""
            sums.days[key, default: 0] += count
            guard group.verdict == .counted, let campaign = group.campaign else { continue }
            for span in [Self.everySpan, group.deliverySpan] {
                sums.deliveries[Delivery(campaign: ByteString(campaign), kind: group.kind, span: span), default: 0] += count
            }
        }
        return sums
    }

    package mutating func hasCommitted() {
        discard()
        waiting.removeAll(keepingCapacity: true)
    }

    /// Defers the counts of the group to the next group that writes.
    package mutating func postpone() {
        waiting.merge(counts, uniquingKeysWith: +)
        discard()
    }

    /// Discards the counts of a group that was rolled back.
    package mutating func discard() {
        counts.removeAll(keepingCapacity: true)
        choices.removeAll(keepingCapacity: true)
        isDue = false
    }
}
