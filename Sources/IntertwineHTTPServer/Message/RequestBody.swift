internal import Synchronization

/// The body of a request: all of it where the plan asked for that, otherwise chunks as they arrive.
///
/// Iterated by one consumer, once. While it does not ask, the server stops reading from the connection.
public struct RequestBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]

    enum Storage: Sendable {
        case collected([UInt8], MemoryReservation?)
        case streamed(RequestBodyStream)
    }

    let storage: Storage

    /// The bytes of a body that was read as a whole; nil for a streamed one.
    public var bytes: [UInt8]? {
        if case .collected(let bytes, _) = storage { bytes } else { nil }
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var storage: Storage

        public mutating func next() async throws -> [UInt8]? {
            switch storage {
            case .collected(let bytes, let share):
                storage = .collected([], share)
                return bytes.isEmpty ? nil : bytes
            case .streamed(let stream):
                return try await stream.next()
            }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(storage: storage) }
}

/// Why a streamed body ended before its end.
public enum RequestBodyError: Error, Hashable, Sendable {
    /// The connection is gone, or what came was no body.
    case incomplete
    /// The body came too slowly.
    case tooSlow
    /// The body is longer than its plan allows.
    case tooLarge
}

/// Chunks of a body between the loop that receives them and the task that consumes them.
final class RequestBodyStream: Sendable {
    private struct State {
        var chunks: [[UInt8]] = []
        var bytes = 0
        var outcome: Result<Void, RequestBodyError>?
        var consumer: CheckedContinuation<[UInt8]?, any Error>?
        var isPaused = false
    }

    private let state = Mutex(State())
    private let highWater: Int
    private let share: MemoryReservation
    private let resume: @Sendable () -> Void

    /// - Parameters:
    ///   - highWater: bytes that may wait before the sender is asked to pause.
    ///   - share: what waits is counted there.
    ///   - resume: called when a paused sender may go on, from the consumer's task.
    init(highWater: Int, share: MemoryReservation, resume: @escaping @Sendable () -> Void) {
        self.highWater = highWater
        self.share = share
        self.resume = resume
    }

    /// Adds a chunk. False where the sender must pause until it is told to resume.
    func push(_ chunk: [UInt8]) -> Bool {
        let (consumer, goesOn) = state.withLock { state -> (CheckedContinuation<[UInt8]?, any Error>?, Bool) in
            if let consumer = state.consumer {
                state.consumer = nil
                return (consumer, true)
            }
            state.chunks.append(chunk)
            state.bytes += chunk.count
            // Never more than the high-water mark and what came at once: not worth breaking off for.
            _ = share.reserve(chunk.count)
            state.isPaused = state.bytes >= highWater
            return (nil, !state.isPaused)
        }
        consumer?.resume(returning: chunk)
        return goesOn
    }

    func finish(_ outcome: Result<Void, RequestBodyError>) {
        let consumer = state.withLock { state -> CheckedContinuation<[UInt8]?, any Error>? in
            if state.outcome == nil { state.outcome = outcome }
            defer { state.consumer = nil }
            return state.consumer
        }
        switch outcome {
        case .success: consumer?.resume(returning: nil)
        case .failure(let error): consumer?.resume(throwing: error)
        }
    }

    func next() async throws -> [UInt8]? {
        let chunk = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[UInt8]?, any Error>) in
            let ready = state.withLock { state -> Result<[UInt8]?, any Error>? in
                if !state.chunks.isEmpty {
                    // All that waits, as one: how a sender cuts its body must not decide what reading it costs.
                    let all = state.chunks.count == 1 ? state.chunks[0] : Array(state.chunks.joined())
                    state.chunks.removeAll(keepingCapacity: true)
                    share.release(state.bytes)
                    state.bytes = 0
                    return .success(all)
                }
                switch state.outcome {
                case .success: return .success(nil)
                case .failure(let error): return .failure(error)
                case nil: break
                }
                state.consumer = continuation
                return nil
            }
            if let ready { continuation.resume(with: ready) }
        }
        let goesOn = state.withLock { state in
            let goesOn = state.isPaused && state.bytes < highWater / 2
            if goesOn { state.isPaused = false }
            return goesOn
        }
        if goesOn { resume() }
        return chunk
    }
}
