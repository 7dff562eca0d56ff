import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A loader of the images of cells. Requests of one image are coalesced, visible images are loaded first, and images of reused cells are cancelled.
///
/// ```swift
/// for await image in loader.images(for: cell, scale: 2) {
///     if case .image("avatar", let data, _) = image { imageView.image = UIImage(data: data) }
/// }
/// ```
///
/// The loop ends when all images are complete. If its task is cancelled, for example because its cell is reused, loads without other waiters
/// are cancelled. A queued request is never sent. For a sent request the connection is closed, and the cell's `cancellation` is performed so
/// that the server stops too.
public actor ImageLoader {
    /// The limits of a loader.
    ///
    /// ```swift
    /// var settings = ImageLoader.Settings()
    /// settings.maxBytes = 128 << 20
    /// settings.formats = ["image/webp", "image/jpeg"]
    /// let loader = ImageLoader(client: client, settings: settings)
    /// ```
    public struct Settings: Sendable {
        /// The maximum number of concurrent requests.
        public var maxConcurrentRequests = 4
        /// The maximum number of bytes of cached images.
        public var maxBytes = 64 << 20
        /// The maximum number of bytes of one image.
        public var maxImageBytes = 32 << 20
        /// The image formats that the app supports, most preferred first.
        public var formats = ["image/avif", "image/webp", "image/png", "image/jpeg", "image/gif"]

        /// The transformations of each downloaded image, in order. If one throws, the image is `failed` with `invalidResponse`.
        public var processors: [ImageProcessor] = []

        /// Creates settings with the default values.
        public init() {}
    }

    private struct Waiter {
        let owner: String
        let continuation: CheckedContinuation<CellImage, Never>
        let part: String
    }
    private struct Download {
        /// The id of the request, for its cancellation.
        let id = UUID().uuidString
        let number: Int
        let cancellation: CellAction?
        var priority: ImagePriority
        var waiters: [Int: Waiter] = [:]
        var task: Task<Void, Never>?
    }

    private let client: FeedClient
    private let settings: Settings
    private var cache: ImageCache
    private var downloads: [String: Download] = [:]
    private var count = 0
    private var active = 0
    private var prefetches: [String: Task<Void, Never>] = [:]

    /// Creates a loader, usually one for the whole app.
    public init(client: FeedClient, settings: Settings = Settings()) {
        self.client = client
        self.settings = settings
        cache = ImageCache(maxBytes: settings.maxBytes)
    }

    /// Returns the images of a cell: for each part the placeholder first, then the image or an error.
    ///
    /// - Parameters:
    ///   - part: The name of one part; nil for all parts with an image.
    ///   - scale: The number of pixels per point.
    public nonisolated func images(
        for cell: FeedCell, part wanted: String? = nil, scale: Double = 1, priority: ImagePriority = .visible
    ) -> AsyncStream<CellImage> {
        AsyncStream { stream in
            let parts = cell.bindings.filter { $1.image != nil && (wanted ?? $0) == $0 }.sorted { $0.key < $1.key }
            for (part, binding) in parts {
                let thumbHash = binding.placeholder.flatMap { Data(base64Encoded: $0) }
                if binding.color != nil || thumbHash != nil {
                    stream.yield(.placeholder(part: part, color: binding.color, thumbHash: thumbHash))
                }
            }
            let task = Task {
                await withTaskGroup(of: CellImage.self) { group in
                    for (part, binding) in parts {
                        group.addTask { await self.image(part, binding, of: cell, scale: scale, priority: priority) }
                    }
                    for await image in group { stream.yield(image) }
                }
                stream.finish()
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }

    /// Loads the images of cells that become visible soon into the cache, after all other images.
    ///
    /// ```swift
    /// await loader.prefetch(upcoming, scale: 3)
    /// await loader.cancelPrefetching(upcoming)
    /// ```
    ///
    /// - Parameter scale: The number of pixels per point.
    public func prefetch(_ cells: [FeedCell], scale: Double = 1) {
        for cell in cells where prefetches[cell.id] == nil {
            prefetches[cell.id] = Task {
                for await _ in images(for: cell, scale: scale, priority: .prefetched) {}
                if !Task.isCancelled { prefetches[cell.id] = nil }
            }
        }
    }

    /// Cancels prefetching of cells. An image that a visible cell waits for is still loaded.
    public func cancelPrefetching(_ cells: [FeedCell]) {
        for cell in cells { prefetches.removeValue(forKey: cell.id)?.cancel() }
    }

    /// Sets the priority of a cell's images. The queued image with the highest priority is loaded next.
    public func setPriority(_ priority: ImagePriority, of cell: FeedCell) {
        for (href, download) in downloads where download.waiters.values.contains(where: { $0.owner == cell.id }) {
            downloads[href]?.priority = priority
        }
    }

    /// Clears the cache, for example after a memory warning.
    public func removeAll() {
        cache.removeAll()
    }

    /// The number of queued images.
    var queuedCount: Int { downloads.values.count { $0.task == nil } }

    private func image(
        _ part: String, _ binding: CellBinding, of cell: FeedCell, scale: Double, priority: ImagePriority
    ) async -> CellImage {
        guard let href = binding.image(scale: scale)?.absoluteString else { return .failed(part: part, .invalidLink("")) }
        if let cached = cache.image(href) { return .image(part: part, data: cached.data, type: cached.type) }
        count += 1
        let number = count
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else {
                    continuation.resume(returning: .failed(part: part, .unreachable(reason: "cancelled")))
                    return
                }
                var download =
                    downloads[href] ?? Download(number: number, cancellation: cell.actions[.cancellation], priority: priority)
                download.priority = max(download.priority, priority)
                download.waiters[number] = Waiter(owner: cell.id, continuation: continuation, part: part)
                downloads[href] = download
                sendNext()
            }
        } onCancel: {
            Task { await self.cancel(number, href) }
        }
    }

    private func cancel(_ number: Int, _ href: String) {
        guard let waiter = downloads[href]?.waiters.removeValue(forKey: number) else { return }
        waiter.continuation.resume(returning: .failed(part: waiter.part, .unreachable(reason: "cancelled")))
        guard let download = downloads[href], download.waiters.isEmpty else { return }
        downloads[href] = nil
        guard let task = download.task else { return }
        task.cancel()
        guard let action = download.cancellation, case .request(let method, _, let body) = action.kind,
            let cancellation = action.href(["request": download.id])
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
        while active < settings.maxConcurrentRequests {
            let queued = downloads.filter { $0.value.task == nil }
            let next = queued.max { one, other in
                (one.value.priority.rawValue, -one.value.number) < (other.value.priority.rawValue, -other.value.number)
            }
            guard let (href, download) = next else { return }
            active += 1
            downloads[href]?.task = Task { await self.load(href, download.id) }
        }
    }

    private func load(_ href: String, _ id: String) async {
        let result: Result<LoadedImage, FeedClientError>
        do {
            var request = try client.request("GET", href)
            request.setValue(id, forHTTPHeaderField: "X-Request-ID")
            request.setValue(Self.accept(settings.formats), forHTTPHeaderField: "Accept")
            let response = try await client.send(request, isRepeatable: true, limit: settings.maxImageBytes) { response in
                guard response.status == 200 else { throw FeedClientError.refused(FeedProblem(response)) }
                return response
            }
            let image = LoadedImage(data: response.body, type: response.fields["content-type"] ?? "application/octet-stream")
            result = .success(try await processed(image))
        } catch let error as FeedClientError {
            result = .failure(error)
        } catch {
            result = .failure(.unreachable(reason: "cancelled"))
        }
        active -= 1
        // If all waiters had left, a later caller started another request for the image.
        if downloads[href]?.id == id, let download = downloads.removeValue(forKey: href) {
            if case .success(let image) = result { cache.store(image.data, type: image.type, for: href) }
            for waiter in download.waiters.values {
                switch result {
                case .success(let image):
                    waiter.continuation.resume(returning: .image(part: waiter.part, data: image.data, type: image.type))
                case .failure(let error):
                    waiter.continuation.resume(returning: .failed(part: waiter.part, error))
                }
            }
        }
        sendNext()
    }

    /// Returns an image after all processors.
    private nonisolated func processed(_ image: LoadedImage) async throws -> LoadedImage {
        var image = image
        for process in settings.processors {
            do {
                image = try await process(image)
            } catch let error where !(error is CancellationError) {
                throw FeedClientError.invalidResponse(reason: "\(error)")
            }
        }
        return image
    }

    private static func accept(_ formats: [String]) -> String {
        formats.prefix(9).enumerated().map { $0 == 0 ? $1 : "\($1);q=0.\(10 - $0)" }.joined(separator: ", ")
    }
}
