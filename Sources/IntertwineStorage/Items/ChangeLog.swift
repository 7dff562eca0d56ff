internal import IntertwineFeed
import IntertwinePrimitives
import Synchronization

/// A log of the latest commits of this process that only replaced items in place. Cached pages that show none of these items remain valid.
///
/// The log contains consecutive commits only. A commit of another process, or one with other changes, starts a new log.
final class ChangeLog: Sendable {
    private struct Step {
        var before: StoreVersion
        var after: StoreVersion
        var item: InPlaceUpdate
    }

    /// The limit of steps. A cached page that was not requested during as many replacements is rebuilt.
    private static let limit = 1_024

    private let steps = Mutex<FIFOQueue<Step>>([])

    /// Adds a commit to the log.
    ///
    /// - Parameters:
    ///   - item: the item that the commit replaced; nil if it made other changes.
    ///   - before: the version of the store before the commit.
    ///   - after: the version after the commit, or after a later one if another process has committed in between.
    func record(_ item: InPlaceUpdate?, from before: StoreVersion, to after: StoreVersion) {
        guard let item, after.isNext(to: before) else { return }
        steps.withLock { steps in
            if let last = steps.last, last.after != before { steps = [] }
            steps.append(Step(before: before, after: after, item: item))
            if steps.count > Self.limit { _ = steps.popFirst() }
        }
    }

    func isUntouched(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool {
        guard old != new else { return true }
        return steps.withLock { steps in
            guard let index = steps.lastIndex(where: { $0.after == new }) else { return false }
            for step in steps[...index].reversed() {
                if extent.includes(step.item) { return false }
                if step.before == old { return true }
            }
            return false
        }
    }
}

extension StoreVersion {
    /// Returns true if one commit is between the versions: each commit increments the upper half by one.
    fileprivate func isNext(to before: StoreVersion) -> Bool {
        let (next, overflow) = before.high.addingReportingOverflow(1)
        return !overflow && high == next && high != .max
    }
}
