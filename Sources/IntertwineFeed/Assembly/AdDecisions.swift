internal import IntertwinePrimitives
import Synchronization

/// The decisions of an embedding program's sources of ads. The same page gets its ads and tokens again.
package final class AdDecisions: Sendable {
    struct Question: Hashable {
        let source: String
        let context: FeedContext
        let moment: Int64
        let page: UInt32
        let slots: [Int]
        let state: [UInt8]
    }

    struct Decision {
        let cells: [String?]
        let time: Int64
    }

    /// An error that ends an assembly: the source has to decide first.
    struct UndecidedError: Error {
        let source: any AdSource
        let question: Question
    }

    private let decisions = Mutex(
        BoundedCache<Question, Decision>(limit: 16 << 20) { question, decision in
            let context = question.context
            let texts = [context.viewer ?? ""] + (Array(context.attributes) + Array(context.filters)).flatMap { [$0] + $1 }
            let cells = decision.cells.compactMap(\.self)
            return 512 + question.state.count + 24 * question.slots.count + (texts + cells).reduce(0) { $0 + 32 + $1.utf8.count }
        })

    package init() {}

    package var bytes: Int { decisions.withLock { $0.cost } }

    func known(_ question: Question, now: Int64) -> Decision? {
        decisions.withLock { $0[question] }.flatMap { now < $0.time &+ AdServer.lifetime ? $0 : nil }
    }

    /// The first decision stays, so that requests at one time get equal tokens.
    func add(_ cells: [String?], for question: Question, now: Int64) {
        if known(question, now: now) == nil { decisions.withLock { $0[question] = Decision(cells: cells, time: now) } }
    }
}
