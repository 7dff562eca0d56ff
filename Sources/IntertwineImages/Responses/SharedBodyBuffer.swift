internal import IntertwineHTTPServer
internal import Synchronization

/// Small pieces are merged. Why: the memory cost must not depend on how the origin splits the body.
final class SharedBodyBuffer: Sendable {
    enum End: Sendable {
        case complete
        case failed(ImageError)
    }

    struct Place: Sendable {
        fileprivate var chunk = 0
        fileprivate var offset = 0
    }

    /// The largest piece in bytes that is merged.
    private static let minChunk = 4_096
    fileprivate static let gathered = 16_384
    private static let overhead = 64

    fileprivate struct State: Sendable {
        var chunks: [[UInt8]] = []
        var end: End?
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<UInt64> = []
        var bytes = 0
        var cost = 0
    }

    private let budget: MemoryBudget
    private let state = Mutex(State())

    init(budget: MemoryBudget) {
        self.budget = budget
    }

    deinit {
        budget.release(state.withLock { $0.cost })
    }

    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // Safe: the closure runs immediately, on the thread that owns the bytes.
        nonisolated(unsafe) let bytes = bytes
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
            let isGathered = bytes.count <= Self.minChunk && state.hasRoom(for: bytes.count)
            let cost = isGathered ? bytes.count : bytes.count + Self.overhead
            guard budget.reserve(cost) else { return nil }
            state.cost += cost
            state.bytes += bytes.count
            if isGathered { state.gather(bytes) } else { state.chunks.append([UInt8](bytes)) }
            return state.drainWaiting()
        }
        waiting?.forEach { $0.resume() }
        return waiting != nil
    }

    func finish(_ end: End) {
        let waiting = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.drainWaiting()
        }
        waiting.forEach { $0.resume() }
    }

    func cutOff(_ failure: ImageError) {
        let (cost, waiting) = state.withLock { state in
            let cost = state.cost
            state.chunks = []
            state.bytes = 0
            state.cost = 0
            state.end = .failed(failure)
            return (cost, state.drainWaiting())
        }
        budget.release(cost)
        waiting.forEach { $0.resume() }
    }

    var contents: [UInt8] {
        state.withLock { state in
            var all: [UInt8] = []
            all.reserveCapacity(state.bytes)
            for chunk in state.chunks { all.append(contentsOf: chunk) }
            return all
        }
    }

    func next(at place: inout Place, for reader: UInt64) async throws(ImageError) -> [UInt8]? {
        while true {
            enum Step { case bytes([UInt8], Place), end(End), wait }
            let step = state.withLock { [place] state -> Step in
                if state.cancelled.contains(reader) { return .end(.failed(ImageError(.cancelled))) }
                if let (bytes, next) = state.bytes(after: place) { return .bytes(bytes, next) }
                return state.end.map { .end($0) } ?? .wait
            }
            switch step {
            case .bytes(let bytes, let next):
                place = next
                return bytes
            case .end(.complete): return nil
            case .end(.failed(let failure)): throw failure
            case .wait: await wait(at: place, for: reader)
            }
        }
    }

    func cancel(_ reader: UInt64) {
        let waiting = state.withLock { state in
            state.cancelled.insert(reader)
            return state.waiting.removeValue(forKey: reader)
        }
        waiting?.resume()
    }

    private func wait(at place: Place, for reader: UInt64) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.reaches(beyond: place) || state.end != nil || state.cancelled.contains(reader) { return true }
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

extension SharedBodyBuffer.State {
    fileprivate func hasRoom(for bytes: Int) -> Bool {
        chunks.last.map { $0.count + bytes <= SharedBodyBuffer.gathered } ?? false
    }

    fileprivate mutating func gather(_ bytes: UnsafeRawBufferPointer) {
        let last = chunks.count - 1
        // The capacity is doubled up to the chunk limit, so that each byte is moved only a few times.
        if chunks[last].capacity < chunks[last].count + bytes.count {
            chunks[last].reserveCapacity(min(2 * (chunks[last].count + bytes.count), SharedBodyBuffer.gathered))
        }
        chunks[last].append(contentsOf: bytes)
    }

    fileprivate func reaches(beyond place: SharedBodyBuffer.Place) -> Bool {
        place.chunk < chunks.count && (place.offset < chunks[place.chunk].count || place.chunk + 1 < chunks.count)
    }

    fileprivate func bytes(after place: SharedBodyBuffer.Place) -> (bytes: [UInt8], next: SharedBodyBuffer.Place)? {
        var place = place
        if place.chunk < chunks.count, place.offset == chunks[place.chunk].count {
            place = SharedBodyBuffer.Place(chunk: place.chunk + 1, offset: 0)
        }
        guard place.chunk < chunks.count else { return nil }
        let chunk = chunks[place.chunk]
        // An open chunk is copied: appending to a chunk that a reader shares would copy it as a whole.
        let isClosed = place.chunk + 1 < chunks.count || chunk.count >= SharedBodyBuffer.gathered
        let bytes = place.offset == 0 && isClosed ? chunk : Array(chunk[place.offset...])
        return (bytes, SharedBodyBuffer.Place(chunk: place.chunk, offset: chunk.count))
    }

    fileprivate mutating func drainWaiting() -> [CheckedContinuation<Void, Never>] {
        defer { waiting.removeAll(keepingCapacity: true) }
        return Array(waiting.values)
    }
}

/// The body of an image that is still arriving: an asynchronous sequence of chunks.
package final class ImageStream: AsyncSequence, Sendable {
    package typealias Element = [UInt8]
    package typealias Failure = ImageError

    private let buffer: SharedBodyBuffer
    private let reader: UInt64
    private let onLeave: @Sendable () -> Void
    private let hasLeft = Atomic<Bool>(false)

    init(_ buffer: SharedBodyBuffer, reader: UInt64, onLeave: @escaping @Sendable () -> Void) {
        (self.buffer, self.reader, self.onLeave) = (buffer, reader, onLeave)
    }

    deinit {
        detach()
    }

    package func cancel() {
        buffer.cancel(reader)
        detach()
    }

    private func detach() {
        if hasLeft.exchange(true, ordering: .relaxed) == false { onLeave() }
    }

    /// Called once, because a stream has one reader.
    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream: self)
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let stream: ImageStream
        private var position = SharedBodyBuffer.Place()

        fileprivate init(stream: ImageStream) {
            self.stream = stream
        }

        package mutating func next() async throws(ImageError) -> [UInt8]? {
            try await next(isolation: nil)
        }

        package mutating func next(isolation actor: isolated (any Actor)?) async throws(ImageError) -> [UInt8]? {
            do throws(ImageError) {
                let chunk = try await stream.buffer.next(at: &position, for: stream.reader)
                if chunk == nil { stream.detach() }
                return chunk
            } catch {
                stream.detach()
                throw error
            }
        }
    }
}

/// The buffers of ended downloads that still have readers, oldest first.
struct DetachedBuffers {
    private struct Entry {
        weak var buffer: SharedBodyBuffer?
    }

    private var entries: [Entry] = []

    mutating func add(_ buffer: SharedBodyBuffer) {
        entries.removeAll { $0.buffer == nil }
        entries.append(Entry(buffer: buffer))
    }

    /// Why: the readers of the oldest buffer have had the most time to read.
    mutating func append(_ bytes: UnsafeRawBufferPointer, to buffer: SharedBodyBuffer) -> Bool {
        while !buffer.append(bytes) {
            guard !entries.isEmpty else { return false }
            entries.removeFirst().buffer?.cutOff(ImageError(.buffersFull, retryAfter: 1))
        }
        return true
    }
}
