internal import Synchronization

/// The body of a picture that is still on its way: chunks from the first byte on, as they arrive, then the end or the failure.
///
/// Made for one reader. Who lets go of it before the end has left, and the last one to leave gives the download up.
public final class ImageStream: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = ImageFailure

    private let spool: Spool
    private let reader: UInt64
    private let departure: @Sendable () -> Void
    private let hasLeft = Atomic<Bool>(false)

    init(_ spool: Spool, reader: UInt64, departure: @escaping @Sendable () -> Void) {
        self.spool = spool
        self.reader = reader
        self.departure = departure
    }

    deinit {
        leave()
    }

    /// Leaves before the end: whoever reads gets `cancelled`. Nothing happens the second time.
    public func cancel() {
        spool.cancel(reader)
        leave()
    }

    private func leave() {
        if hasLeft.exchange(true, ordering: .relaxed) == false { departure() }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream: self)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let stream: ImageStream
        private var place = Spool.Place()

        fileprivate init(stream: ImageStream) {
            self.stream = stream
        }

        public mutating func next() async throws(ImageFailure) -> [UInt8]? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ImageFailure) -> [UInt8]? {
            do throws(ImageFailure) {
                let chunk = try await stream.spool.next(at: &place, for: stream.reader)
                if chunk == nil { stream.leave() }
                return chunk
            } catch {
                stream.leave()
                throw error
            }
        }
    }
}
