internal import IntertwineFeed
import IntertwinePrimitives
import Synchronization

/// A log of the latest commits of this process that only replaced items in place.
final class ChangeLog: Sendable {
    private struct Step {
        var before: StoreVersion
        var after: StoreVersion
        var item: InPlaceUpdate
    }

    private static let limit = 1_024

    private let steps = Mutex<FIFOQueue<Step>>([])

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
    fileprivate func isNext(to before: StoreVersion) -> Bool {
        let (next, overflow) = before.high.addingReportingOverflow(1)
        return !overflow && high == next && high != .max
    }
}
