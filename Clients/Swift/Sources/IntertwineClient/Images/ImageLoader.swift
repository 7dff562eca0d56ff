import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A loader of the images of cells. Requests of one image are coalesced, visible images are loaded first, and images of reused cells are cancelled.
///
///     for await part in loader.pictures(for: cell, scale: 2) { view.show(part) }
///
/// The loop ends when all images are complete. If its task is cancelled, for example because its cell is reused, loads without other waiters
/// are cancelled. A queued request is never sent. For a sent request the connection is closed, and the cell's `cancellation` is performed so
/// that the server stops too.
public actor ImageLoader {
    public struct Settings: Sendable {
        /// The maximum number of concurrent requests.
        public var simultaneous = 4
        /// The maximum number of bytes of cached images.
        public var mostBytes = 64 << 20
        /// The maximum number of bytes of one image.
        public var longest = 32 << 20
        /// The image formats that the app supports, most preferred first.
        public var formats = ["image/avif", "image/webp", "image/png", "image/jpeg", "image/gif"]

        public init() {}
    }

    private struct Waiter {
        let owner: String
        let continuation: CheckedContinuation<CellPicture, Never>
        let part: String
    }
    private struct Flight {
        /// The id of the request, for its cancellation.
        let id = UUID().uuidString
        let number: Int
        let cancellation: Action?
        var priority: ImagePriority
        var waiters: [Int: Waiter] = [:]
        var task: Task<Void, Never>?
    }

    private let client: FeedClient
    private let settings: Settings
    private var memory: ImageMemory
    private var flights: [String: Flight] = [:]
    private var count = 0
    private var underWay = 0

    public init(client: FeedClient, settings: Settings = Settings()) {
        self.client = client
        self.settings = settings
        memory = ImageMemory(mostBytes: settings.mostBytes)
    }

    /// Returns the images of a cell: for each part the placeholder first, then the image or an error.
    ///
    /// - Parameter scale: The number of pixels per point.
    public nonisolated func pictures(
        for cell: FeedCell, scale: Double = 1, priority: ImagePriority = .visible
    ) -> AsyncStream<CellPicture> {
        AsyncStream { stream in
            let parts = cell.bindings.filter { $0.value.image != nil }.sorted { $0.key < $1.key }
            for (part, binding) in parts {
                let likeness = binding.placeholder.flatMap { Data(base64Encoded: $0) }
                if binding.color != nil || likeness != nil {
                    stream.yield(.placeholder(part: part, color: binding.color, likeness: likeness))
                }
            }
            let task = Task {
                await withTaskGroup(of: CellPicture.self) { group in
                    for (part, binding) in parts {
                        group.addTask { await self.picture(part, binding, of: cell, scale: scale, priority: priority) }
                    }
                    for await picture in group { stream.yield(picture) }
                }
                stream.finish()
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }

    /// Sets the priority of a cell's images. The queued image with the highest priority is loaded next.
    public func setPriority(_ priority: ImagePriority, of cell: FeedCell) {
        for (href, flight) in flights where flight.waiters.values.contains(where: { $0.owner == cell.id }) {
            flights[href]?.priority = priority
        }
    }

    /// Clears the cache, for example after a memory warning.
    public func forget() {
        memory.removeAll()
    }

    /// The number of queued images.
    var waiting: Int { flights.values.count { $0.task == nil } }

    private func picture(
        _ part: String, _ binding: Binding, of cell: FeedCell, scale: Double, priority: ImagePriority
    ) async -> CellPicture {
        guard let href = binding.image(scale: scale) else { return .missing(part: part, .noLink("")) }
        if let kept = memory.picture(href) { return .picture(part: part, data: kept.data, type: kept.type) }
        count += 1
        let number = count
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else {
                    continuation.resume(returning: .missing(part: part, .unreachable(reason: "cancelled")))
                    return
                }
                var flight =
                    flights[href] ?? Flight(number: number, cancellation: cell.actions["cancellation"], priority: priority)
                flight.priority = max(flight.priority, priority)
                flight.waiters[number] = Waiter(owner: cell.id, continuation: continuation, part: part)
                flights[href] = flight
                sendNext()
            }
        } onCancel: {
            Task { await self.leave(number, href) }
        }
    }

    private func leave(_ number: Int, _ href: String) {
        guard let waiter = flights[href]?.waiters.removeValue(forKey: number) else { return }
        waiter.continuation.resume(returning: .missing(part: waiter.part, .unreachable(reason: "cancelled")))
        guard let flight = flights[href], flight.waiters.isEmpty else { return }
        flights[href] = nil
        guard let task = flight.task else { return }
        task.cancel()
        guard let action = flight.cancellation, case .request(let method, _, let body) = action.kind,
            let cancellation = action.href(["request": flight.id])
        else { return }
        // The response is ignored: the image may be complete, or the server may have detected the closed connection.
        Task { [client] in
            var once = client
            once.retry = .never
            _ = try? await once.submit(method, cancellation, body: body, key: nil)
        }
    }

    /// Sends queued requests, highest priority and then oldest first, up to the limit of concurrent requests.
    private func sendNext() {
        while underWay < settings.simultaneous {
            let waiting = flights.filter { $0.value.task == nil }
            let next = waiting.max { one, other in
                (one.value.priority.rawValue, -one.value.number) < (other.value.priority.rawValue, -other.value.number)
            }
            guard let (href, flight) = next else { return }
            underWay += 1
            flights[href]?.task = Task { await self.load(href, flight.id) }
        }
    }

    private func load(_ href: String, _ id: String) async {
        let result: Result<(Data, String), FeedClientError>
        do {
            var request = try client.request("GET", href)
            request.setValue(id, forHTTPHeaderField: "X-Request-ID")
            request.setValue(Self.accept(settings.formats), forHTTPHeaderField: "Accept")
            let answer = try await client.send(request, isRepeatable: true, limit: settings.longest) { answer in
                guard answer.status == 200 else { throw FeedClientError.refused(Problem(answer)) }
                return answer
            }
            result = .success((answer.body, answer.fields["content-type"] ?? "application/octet-stream"))
        } catch let error as FeedClientError {
            result = .failure(error)
        } catch {
            result = .failure(.unreachable(reason: "cancelled"))
        }
        underWay -= 1
        // If all waiters had left, a later caller started another request for the image.
        if flights[href]?.id == id, let flight = flights.removeValue(forKey: href) {
            if case .success((let data, let type)) = result { memory.keep(data, type: type, for: href) }
            for waiter in flight.waiters.values {
                switch result {
                case .success((let data, let type)):
                    waiter.continuation.resume(returning: .picture(part: waiter.part, data: data, type: type))
                case .failure(let error):
                    waiter.continuation.resume(returning: .missing(part: waiter.part, error))
                }
            }
        }
        sendNext()
    }

    private static func accept(_ formats: [String]) -> String {
        formats.prefix(9).enumerated().map { $0 == 0 ? $1 : "\($1);q=0.\(10 - $0)" }.joined(separator: ", ")
    }
}
