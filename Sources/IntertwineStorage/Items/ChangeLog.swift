internal import IntertwineFeed
import IntertwinePrimitives
import Synchronization

/// A record of the items that a unit of work replaced in place, if it did nothing else.
struct ChangeLogEntry {
    private(set) var replaced: [InPlaceUpdate]? = []

    mutating func replace(_ item: InPlaceUpdate) { replaced?.append(item) }

    mutating func doOther() { replaced = nil }
}

/// A log of the latest commits of this process that only replaced items in place.
final class ChangeLog: Sendable {
    private struct Step {
        var before: StoreVersion
        var after: StoreVersion
        var items: [InPlaceUpdate]
    }

    private static let limit = 1_024

    private struct State {
        var steps: FIFOQueue<Step> = []
        var items = 0
    }

    private let state = Mutex(State())

    func record(_ note: ChangeLogEntry, from before: StoreVersion, to after: StoreVersion) {
        guard let items = note.replaced, after.isNext(to: before) else { return }
        state.withLock { state in
            if let last = state.steps.last, last.after != before { state = State() }
            state.steps.append(Step(before: before, after: after, items: items))
            state.items += items.count
            while state.items > Self.limit || state.steps.count > Self.limit, let first = state.steps.popFirst() {
                state.items -= first.items.count
            }
        }
    }

    func isUntouched(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool {
        guard old != new else { return true }
        return state.withLock { state in
            guard let index = state.steps.lastIndex(where: { $0.after == new }) else { return false }
            for step in state.steps[...index].reversed() {
                if step.items.contains(where: extent.includes) { return false }
                if step.before == old { return true }
            }
            return false
        }
    }
}

extension StoreVersion {
    fileprivate func isNext(to before: StoreVersion) -> Bool {
        let (next, overflow) = before.high.addingReportingOverflow(1)
        return !overflow && high == next && high != .max
    }
}
