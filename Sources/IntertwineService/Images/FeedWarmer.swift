internal import Foundation
internal import HTTPTypes
internal import IntertwineDeclarations
internal import IntertwineEventLoop
internal import IntertwineFetch
internal import IntertwineImages

/// A client that pages through feeds of a running service and requests the images of their cells.
///
/// Readers then get cache hits for images, and cells contain image metadata. Requests have the field `Sec-Purpose: prefetch`, so images that
/// viewers request have priority.
package struct FeedWarmer: Sendable {
    /// The progress or result of a run.
    package struct Outcome: Sendable {
        package var pages = 0
        package var images = 0
        /// The number of failed images by the reason in `Image-Error`.
        package var failures: [String: Int] = [:]
    }

    /// The maximum size in bytes of a page or an image that is read.
    private static let largest = 64 << 20
    /// The maximum number of requests for an image that the service is too busy to make.
    private static let attempts = 5

    private let base: FetchURL
    /// The targets of first pages, such as `/feed?limit=100`.
    private let feeds: [String]
    private let scales: [Int]
    private let accept: String
    /// The maximum number of concurrent image requests.
    private let parallel: Int

    /// - Parameters:
    ///   - base: The service's URL; nil for its own listener.
    ///   - feeds: Paths, such as `/feed` or `/feeds/main`.
    ///   - query: The query of all pages, such as `layout=table`.
    ///   - scales: The scales of the requested images, as far as they are offered.
    /// - Throws: `ConfigurationError` if the URL is invalid.
    package init(
        _ configuration: ServiceConfiguration, base: String?, feeds: [String], query: String, scales: [Int], accept: String, parallel: Int
    ) throws {
        let server = configuration.server
        let host = ["0.0.0.0", "::"].contains(server.host) ? "127.0.0.1" : server.host
        let own = "http://\(host.contains(":") ? "[\(host)]" : host):\(server.port)/"
        guard let url = try? FetchURL(base ?? own) else {
            throw ConfigurationError("'\(base ?? own)' is not an absolute http or https URL")
        }
        self.base = url
        self.feeds = feeds.map { "\($0)?limit=100\(query.isEmpty ? "" : "&\(query)")" }
        self.scales = scales
        self.accept = accept
        self.parallel = parallel
    }

    /// Requests all pages and images.
    ///
    /// - Parameter onProgress: Called from time to time with the progress.
    /// - Throws: `ConfigurationError` if a page cannot be fetched: the service does not run, or the feed does not exist.
    package func run(_ onProgress: @escaping @Sendable (Outcome) -> Void) async throws -> Outcome {
        let loop = try EventLoop(label: "warm")
        let everywhere = ["0.0.0.0/0", "::/0"].compactMap(Network.init)
        let port = base.port
        let transfers = CurlClient(on: loop, policy: AddressPolicy(allowedNetworks: everywhere, allowedPorts: [port], ownAddresses: []))
        defer { loop.stop() }
        var outcome = Outcome()
        var known: Set<String> = []
        for feed in feeds {
            var next: String? = feed
            while let href = next {
                let page = try await page(href, transfers)
                outcome.pages += 1
                next = page.next
                let news = page.images.filter { known.insert($0).inserted }
                await ask(for: news, transfers, &outcome, onProgress)
            }
        }
        await transfers.shutDown()
        return outcome
    }

    private func ask(
        for hrefs: [String], _ transfers: CurlClient, _ outcome: inout Outcome, _ onProgress: @Sendable (Outcome) -> Void
    ) async {
        await withTaskGroup(of: String?.self) { group in
            var rest = hrefs[...]
            func begin() {
                guard let href = rest.popFirst() else { return }
                group.addTask { await fetchImage(href, transfers) }
            }
            for _ in 0..<parallel { begin() }
            for await failure in group {
                outcome.images += 1
                if let failure { outcome.failures[failure, default: 0] += 1 }
                onProgress(outcome)
                begin()
            }
        }
    }

    /// Fetches an image.
    ///
    /// - Returns: The reason of a failure; nil if the image was fetched.
    private func fetchImage(_ href: String, _ transfers: CurlClient) async -> String? {
        var failure = "unreachable"
        for _ in 0..<Self.attempts {
            guard let answer = try? await get(href, accept, transfers) else { continue }
            if answer.head.status == 200 { return nil }
            failure = answer.head.headers[.imageError] ?? "status-\(answer.head.status)"
            guard answer.head.status == 503 else { return failure }
            let wait = answer.head.headers[.retryAfter].flatMap { Int($0) } ?? 1
            try? await Task.sleep(for: .seconds(min(max(wait, 1), 30)))
        }
        return failure
    }

    private func page(_ href: String, _ transfers: CurlClient) async throws -> (images: [String], next: String?) {
        let answer: (head: FetchHead, body: [UInt8])
        do throws(FetchError) {
            answer = try await get(href, "application/json", transfers)
        } catch {
            throw ConfigurationError("\(base.text): \(error.rawValue); is the service running?")
        }
        guard answer.head.status == 200, let document = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any] else {
            throw ConfigurationError("\(href) returned \(answer.head.status), not a page of a feed")
        }
        var images: [String] = []
        for case let cell as [String: Any] in document["cells"] as? [Any] ?? [] {
            let actions = cell["actions"] as? [String: Any]
            let bindings = (actions?["configuration"] as? [String: Any])?["bindings"] as? [String: Any] ?? [:]
            for case let binding as [String: Any] in bindings.values { images += hrefs(of: binding) }
        }
        return (images, (document["page"] as? [String: Any])?["next"] as? String)
    }

    /// Returns the hrefs of an image at the requested scales; the href of the original if the image has no size.
    private func hrefs(of binding: [String: Any]) -> [String] {
        guard binding["type"] as? String == "image", let image = binding["href"] as? String, let start = image.range(of: "/images/") else {
            return []
        }
        let href = image[start.lowerBound...]
        guard let offered = binding["scales"] as? [Int], !offered.isEmpty else { return [String(href)] }
        return scales.filter(offered.contains).map { $0 == 1 ? String(href) : "\(href)@\($0)x" }
    }

    private func get(_ href: String, _ accept: String, _ transfers: CurlClient) async throws(FetchError) -> (head: FetchHead, body: [UInt8])
    {
        // If the service has a public URL, the hrefs of a page are absolute; the request is sent to the service's listener nevertheless.
        var path = href[...]
        if let scheme = href.range(of: "://"), let slash = href[scheme.upperBound...].firstIndex(of: "/") { path = href[slash...] }
        var request = FetchRequest(
            try base.resolving(String(path)),
            headers: [.accept: accept, .secPurpose: "prefetch", .userAgent: "intertwine-warm"])
        request.limits.bodyBytes = Self.largest
        request.limits.head = .seconds(60)
        request.limits.total = .seconds(120)
        request.limits.slowSeconds = 60
        return try await transfers.get(request)
    }
}
