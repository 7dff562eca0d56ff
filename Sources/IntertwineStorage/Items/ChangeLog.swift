import DequeModule
import IntertwineFeed
import Synchronization

/// What a unit of work tells of itself: the items that it replaced in their places, if that is all it did.
struct ChangeLogEntry {
    /// Nil where something else was done.
    private(set) var replaced: [InPlaceUpdate]? = []

    mutating func replace(_ item: InPlaceUpdate) { replaced?.append(item) }

    mutating func doOther() { replaced = nil }
}

/// The last commits of this process that did nothing but replace items in their places: so pages that show none of those go on being served.
///
/// Only commits that followed one another are known: one of another process, or one that did more, begins a new history.
final class ChangeLog: Sendable {
    private struct Step {
        var before: StoreVersion
        var after: StoreVersion
        var items: [InPlaceUpdate]
    }

    /// Items, of all steps: a page that nobody asked for while so many were replaced is made anew.
    private static let limit = 1_024

    private struct State {
        var steps: Deque<Step> = []
        var items = 0
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - before: the store's version with nothing of the commit.
    ///   - after: the version once it was on disk; of a later commit where others were quick.
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
            guard var index = state.steps.lastIndex(where: { $0.after == new }) else { return false }
            while true {
                let step = state.steps[index]
                if step.items.contains(where: extent.includes) { return false }
                if step.before == old { return true }
                guard index > 0 else { return false }
                index -= 1
            }
        }
    }
}

extension StoreVersion {
    /// Whether one commit lies between the two: each makes the upper half one more.
    fileprivate func isNext(to before: StoreVersion) -> Bool {
        let (next, overflow) = before.high.addingReportingOverflow(1)
        return !overflow && high == next && high != .max
    }
}
