internal import Synchronization

/// A body as it arrives, for any number of readers who each go at their own pace, from the first byte. From any thread.
final class Spool: Sendable {
    enum End: Sendable {
        case whole
        case failed(ImageFailure)
    }

    fileprivate struct State: Sendable {
        var chunks: [[UInt8]] = []
        var end: End?
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        /// Readers who were told to stop; each hears of it once.
        var cancelled: Set<UInt64> = []
        var bytes = 0
    }

    private let budget: ByteBudget
    private let state = Mutex(State())

    init(budget: ByteBudget) {
        self.budget = budget
    }

    deinit {
        budget.give(back: state.withLock { $0.bytes })
    }

    /// False where the memory set aside for downloads does not suffice.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard budget.take(bytes.count) else { return false }
        let chunk = [UInt8](bytes)
        let waiting = state.withLock { state in
            state.chunks.append(chunk)
            state.bytes += chunk.count
            return state.takeWaiting()
        }
        waiting.forEach { $0.resume() }
        return true
    }

    func finish(_ end: End) {
        let waiting = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.takeWaiting()
        }
        waiting.forEach { $0.resume() }
    }

    /// Ends it for those who have not read all of it, and gives its memory back.
    func cutOff(_ failure: ImageFailure) {
        let (bytes, waiting) = state.withLock { state in
            let bytes = state.bytes
            state.chunks = []
            state.bytes = 0
            state.end = .failed(failure)
            return (bytes, state.takeWaiting())
        }
        budget.give(back: bytes)
        waiting.forEach { $0.resume() }
    }

    /// Everything that came, as one.
    var contents: [UInt8] {
        state.withLock { state in
            if state.chunks.count == 1 { return state.chunks[0] }
            var all: [UInt8] = []
            all.reserveCapacity(state.bytes)
            for chunk in state.chunks { all.append(contentsOf: chunk) }
            return all
        }
    }

    /// The chunk at a reader's place; waits for it. Nil at the end.
    func chunk(at place: Int, for reader: UInt64) async throws(ImageFailure) -> [UInt8]? {
        while true {
            enum Step { case chunk([UInt8]), end(End), wait }
            let step = state.withLock { state -> Step in
                if state.cancelled.contains(reader) { return .end(.failed(ImageFailure(.cancelled))) }
                if place < state.chunks.count { return .chunk(state.chunks[place]) }
                return state.end.map { .end($0) } ?? .wait
            }
            switch step {
            case .chunk(let chunk): return chunk
            case .end(.whole): return nil
            case .end(.failed(let failure)): throw failure
            case .wait: await wait(at: place, for: reader)
            }
        }
    }

    /// Makes one reader fail with `cancelled`, whatever it waits for.
    func cancel(_ reader: UInt64) {
        let waiting = state.withLock { state in
            state.cancelled.insert(reader)
            return state.waiting.removeValue(forKey: reader)
        }
        waiting?.resume()
    }

    private func wait(at place: Int, for reader: UInt64) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if place < state.chunks.count || state.end != nil || state.cancelled.contains(reader) { return true }
                    state.waiting[reader] = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            cancel(reader)
        }
    }
}

extension Spool.State {
    fileprivate mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
        defer { waiting.removeAll(keepingCapacity: true) }
        return Array(waiting.values)
    }
}
