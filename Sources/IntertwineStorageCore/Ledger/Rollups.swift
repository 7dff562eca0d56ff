package import IntertwineFeed

package struct Rollups {
    package struct Key: Hashable {
        package var day: Int64
        package var cell: ByteString
        package var kind: LedgerEvent.Kind
        package var verdict: Verdict
    }

    package struct Delivery: Hashable {
        package var campaign: ByteString
        package var kind: LedgerEvent.Kind
        package var span: Int64
    }

    package struct Choice: Hashable {
        package var day: Int64
        package var field: ByteString
        package var value: ByteString
        package var kind: LedgerEvent.Kind
    }

    package struct Sums {
        package fileprivate(set) var cells: [Key: Int64] = [:]
        package fileprivate(set) var days: [Key: Int64] = [:]
        package fileprivate(set) var deliveries: [Delivery: Int64] = [:]
        package fileprivate(set) var choices: [Choice: Int64] = [:]
    }

    package private(set) var counts: [EventGroupKey: Int64] = [:]
    /// Events with the verdict `counted` have rows and never wait.
    private var waiting: [EventGroupKey: Int64] = [:]
    /// The choices of inputs, and the values of filters. Their events have rows, so they never wait for another group.
    private var choices: [Choice: Int64] = [:]
    /// A Boolean value indicating whether the group has counts that must be committed with it.
    package private(set) var isDue = false

    package init() {}

    mutating func count(_ event: LedgerEvent, as verdict: Verdict, _ count: Int64 = 1, mayDefer: Bool) {
        if !mayDefer { isDue = true }
        counts[EventGroupKey(event, as: verdict), default: 0] += count
        let (chosen, filters) = (event.input?.choices ?? [], event.impressionContext?.filters ?? [])
        guard verdict == .counted, !chosen.isEmpty || !filters.isEmpty else { return }
        for choice in chosen + filters {
            let chosen = Choice(
                day: LedgerTime.day(of: event.at), field: ByteString(choice.field), value: ByteString(choice.value), kind: event.kind)
            choices[chosen, default: 0] += count
        }
    }

    package var isEmpty: Bool { counts.isEmpty && waiting.isEmpty }

    package var sums: Sums {
        var sums = Sums(choices: choices)
        for (group, count) in waiting.isEmpty ? counts : counts.merging(waiting, uniquingKeysWith: +) {
            var key = Key(day: group.day, cell: group.cell, kind: group.kind, verdict: group.verdict)
            sums.cells[key, default: 0] += count
            key.cell = ""
            sums.days[key, default: 0] += count
            guard let campaign = group.campaign, let kind = group.kind.delivered(as: group.verdict) else { continue }
            for span in [DeliveryBook.total.lowerBound, group.deliverySpan] {
                sums.deliveries[Delivery(campaign: ByteString(campaign), kind: kind, span: span), default: 0] += count
            }
        }
        return sums
    }

    package mutating func hasCommitted() {
        discard()
        waiting.removeAll(keepingCapacity: true)
    }

    package mutating func postpone() {
        waiting.merge(counts, uniquingKeysWith: +)
        discard()
    }

    package mutating func discard() {
        counts.removeAll(keepingCapacity: true)
        choices.removeAll(keepingCapacity: true)
        isDue = false
    }
}

extension LedgerEvent.Kind {
    fileprivate func delivered(as verdict: Verdict) -> LedgerEvent.Kind? {
        switch verdict {
        case .counted: self
        case .surplus, .voided: reported(as: verdict)
        default: nil
        }
    }
}
