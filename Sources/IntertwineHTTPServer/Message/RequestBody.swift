internal import Synchronization

/// The body of a request: collected if the plan asked for that, otherwise a sequence of chunks as they arrive.
///
/// One consumer iterates it once. While the consumer does not request a chunk, the server stops reading from the connection (backpressure).
///
/// ```swift
/// func count(_ request: ServerRequest) async throws -> Int {
///     try await request.body.reduce(0) { count, chunk in count + chunk.count }
/// }
/// ```
public struct RequestBody: AsyncSequence, Sendable {
    /// A chunk of the body.
    public typealias Element = [UInt8]

    enum Storage: Sendable {
        case collected([UInt8], MemoryReservation?)
        case streamed(RequestBodyStream)
    }

    let storage: Storage

    /// The bytes of a collected body; nil for a streamed one.
    public var bytes: [UInt8]? {
        if case .collected(let bytes, _) = storage { bytes } else { nil }
    }

    func collected() async throws -> RequestBody {
        guard case .streamed(let stream) = storage else { return self }
        return RequestBody(storage: try await stream.collected())
    }

    /// The iterator of the chunks. One consumer uses it.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var storage: Storage

        /// Returns the next chunk; nil at the end of the body. A collected body is one chunk.
        ///
        /// - Throws: If a streamed body ends early.
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

    /// Creates the iterator of the chunks. Called once for a streamed body.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(storage: storage) }
}

/// The reason why a streamed body ended early.
package enum RequestBodyError: Error, Hashable, Sendable {
    /// The client disconnected, or the body is malformed.
    case incomplete
    /// The body arrived too slowly.
    case tooSlow
    /// The body is longer than its plan allows.
    case tooLarge
    /// The memory budget for bodies is exhausted.
    case outOfMemory
}

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

    /// `highWater`: The number of queued bytes above which the sender must pause.
    init(highWater: Int, share: MemoryReservation, resume: @escaping @Sendable () -> Void) {
        self.highWater = highWater
        self.share = share
        self.resume = resume
    }

    /// Returns false if the sender must pause until `resume` is called.
    func push(_ chunk: [UInt8]) -> Bool {
        let (consumer, goesOn) = state.withLock { state -> (CheckedContinuation<[UInt8]?, any Error>?, Bool) in
            if let consumer = state.consumer {
                state.consumer = nil
                return (consumer, true)
            }
            state.chunks.append(chunk)
            state.bytes += chunk.count
            // The result is ignored: the excess is at most the high-water mark and one chunk, which does not justify an abort.
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

    func collected() async throws -> RequestBody.Storage {
        var bytes: [UInt8] = []
        while let chunk = try await next() {
            guard share.reserve(chunk.count) else { throw RequestBodyError.outOfMemory }
            bytes += chunk
        }
        return .collected(bytes, share)
    }

    func next() async throws -> [UInt8]? {
        let chunk = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[UInt8]?, any Error>) in
            let ready = state.withLock { state -> Result<[UInt8]?, any Error>? in
                if !state.chunks.isEmpty {
                    // All queued chunks are joined, so that the chunk sizes of a sender do not determine the cost of reading.
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
