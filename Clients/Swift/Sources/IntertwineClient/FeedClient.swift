public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A client of an Intertwine server, which requests pages and sends actions. Copies share the cache of responses.
///
/// ```swift
/// let client = FeedClient(base: URL(string: "https://feeds.example.com")!, viewer: "ann")
/// let page = try await client.page(client.url())
/// let following = try await client.next(after: page)
/// ```
public struct FeedClient: Sendable {
    /// The base URL of the server.
    public let base: URL
    /// The viewer, and the header field with the viewer's name. The field is sent to the server at `base` only.
    public var viewer: String?
    /// The header field that contains the name of the viewer, `viewers.header` of the server.
    public var viewerField = "X-Viewer-ID"
    /// The cells that the app supports, in the format of `CellRegistry.capabilities`. If nil, the server sends all cells.
    public var capabilities: String?
    /// Further header fields of each request to the server at `base`.
    public var headers: [String: String] = [:]
    /// Returns the header fields that authorize a request to the server at `base`, such as `Authorization`.
    ///
    /// The fields are reused until the server responds with 401. Then the closure is called with `isRefresh`, once for all concurrent
    /// requests, and each request is repeated once. If the closure throws a `URLError`, the error of the request is `unreachable`;
    /// otherwise it is `unauthorized`.
    ///
    /// ```swift
    /// var client = client
    /// client.authorize = { isRefresh in ["Authorization": "Bearer \(try await session.token(isRefresh: isRefresh))"] }
    /// ```
    public var authorize: (@Sendable (_ isRefresh: Bool) async throws -> [String: String])? {
        didSet { authorization = authorize.map(Authorization.init) }
    }
    private var authorization: Authorization?
    /// Called if a request failed because the viewer must sign in: `FeedClientError.needsSignIn`. The failed call throws the error, too.
    ///
    /// After the sign-in, call `Actions.sendPending()` and `Impressions.flush()`.
    ///
    /// ```swift
    /// var client = client
    /// client.onSignInRequired = { error in
    ///     if case .signInRequired(_, let location?) = error { print("Sign in at \(location).") }
    /// }
    /// ```
    public var onSignInRequired: (@Sendable (FeedClientError) -> Void)?
    /// The accepted languages, most preferred first.
    public var languages: [String] = []
    /// The policy for retries of safe requests.
    public var retry: RetryPolicy
    /// The maximum number of bytes of a response that is not an image.
    public var maxResponseBytes = 16 << 20
    /// The transport of all requests.
    public let transport: any Transport
    var now: @Sendable () -> Date = { Date() }
    private let cache = ResponseCache()

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - base: The URL of the server.
    ///   - viewer: The name of the viewer; nil for an anonymous viewer.
    ///   - retry: The policy for retries of safe requests.
    ///   - transport: The transport of all requests, for example a stub in tests.
    public init(base: URL, viewer: String? = nil, retry: RetryPolicy = RetryPolicy(), transport: any Transport = URLSessionTransport()) {
        self.base = base
        self.viewer = viewer
        self.retry = retry
        self.transport = transport
    }

    /// Returns the URL of a feed's first page, with changes enabled.
    ///
    /// ```swift
    /// let client = FeedClient(base: URL(string: "https://feeds.example.com")!)
    /// client.url(feed: "home", limit: 10, layout: "table")
    /// // https://feeds.example.com/feeds/home?limit=10&changes=true&layout=table
    /// ```
    ///
    /// - Parameters:
    ///   - feed: The name of the feed; nil for the feed `main`.
    ///   - layout: `collection` or `table`.
    ///   - width: The width of the view, in points.
    ///   - filters: The values of filters by name, such as `["category": ["music", "art"]]`: the values of one filter are alternatives.
    public func url(
        feed: String? = nil, section: String? = nil, limit: Int = 20, layout: String? = nil, width: Int? = nil,
        filters: [String: [String]] = [:]
    ) -> URL {
        var path = feed.map { "/feeds/\(Self.escaped($0))" } ?? (section == nil ? "/feed" : "/feeds/main")
        if let section { path += "/sections/\(Self.escaped(section))" }
        var query = ["limit=\(limit)", "changes=true"]
        if let layout { query.append("layout=\(Self.escaped(layout))") }
        if let width { query.append("width=\(width)") }
        for (name, values) in filters.sorted(by: { $0.key < $1.key }) {
            query += values.map { "\(Self.escaped(name))=\(Self.escaped($0))" }
        }
        return URL(href: path + "?" + query.joined(separator: "&"), base: base) ?? base
    }

    /// Returns the page at a URL: a result of `url(feed:)`, or `next` or `previous` of another page.
    ///
    /// ```swift
    /// let page = try await client.page(client.url(limit: 10))
    /// page.cells.map(\.id)  // ["user:ann", "ad:1", …]
    /// ```
    public func page(_ url: URL) async throws -> FeedPage {
        let response = try await get(url.absoluteString)
        guard let page = FeedPage(response.value, base: base, language: response.language) else {
            throw FeedClientError.invalidResponse(reason: "no page")
        }
        return page
    }

    /// Returns the page after a page; nil at the end of the feed.
    ///
    /// ```swift
    /// var page: FeedPage? = try await client.page(client.url())
    /// while let current = page {
    ///     show(current.cells)
    ///     page = try await client.next(after: current)
    /// }
    /// ```
    public func next(after page: FeedPage) async throws -> FeedPage? {
        guard let url = page.next else { return nil }
        return try await self.page(url)
    }

    /// Returns the page before a page; nil at the start of the feed.
    public func previous(before page: FeedPage) async throws -> FeedPage? {
        guard let url = page.previous else { return nil }
        return try await self.page(url)
    }

    /// Returns the server's feeds, ordered by name.
    ///
    /// ```swift
    /// let names = try await client.feeds().map(\.name)  // ["home", "main"]
    /// ```
    public func feeds() async throws -> [FeedSummary] {
        guard let feeds = try await get("/feeds").value["feeds"]?.array else { throw FeedClientError.invalidResponse(reason: "no feeds") }
        return feeds.compactMap { FeedSummary($0, base: base) }
    }

    /// Returns one cell by its id, for example for a deep link.
    ///
    /// ```swift
    /// let cell = try await client.cell("user:ann")
    /// let name = cell.bindings["username"]?.text
    /// ```
    public func cell(_ id: String) async throws -> FeedCell {
        guard let cell = FeedCell(try await get("/cells/\(Self.escaped(id))").value, base: base) else {
            throw FeedClientError.invalidResponse(reason: "no cell")
        }
        return cell
    }

    /// Reads JSON, with `If-None-Match` if a response of the href is cached. `isFresh` is false if the cached response is still valid.
    func get(_ href: String) async throws -> (value: JSONValue, language: String?, isFresh: Bool) {
        var request = try request("GET", href)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let key = [viewer ?? "", capabilities ?? "", languages.joined(separator: ","), href].joined(separator: "\n")
        let cached = cache.response(for: key)
        if let cached { request.setValue(cached.tag, forHTTPHeaderField: "If-None-Match") }
        let (response, value) = try await exchange(request, isRepeatable: true)
        if response.status == 304, let cached { return (cached.value, cached.language, false) }
        guard let value else { throw FeedClientError.refused(FeedProblem(response)) }
        let language = response.fields["content-language"]
        if let tag = response.fields["etag"] { cache.store(value, tag: tag, language: language, bytes: response.body.count, for: key) }
        return (value, language, true)
    }

    /// Reads JSON with a POST, for queries that do not fit into a URL. The request is safe and can be repeated.
    func query(_ body: JSONValue, at href: String) async throws -> JSONValue {
        var request = try request("POST", href)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try body.encoded()
        let (response, value) = try await exchange(request, isRepeatable: true)
        guard let value else { throw FeedClientError.refused(FeedProblem(response)) }
        return value
    }

    /// Sends the request of an action or a list. Returns successful responses and throws refusals.
    ///
    /// The server redirects none of these requests. A redirect is an intermediary's, for example to its login page, and refuses the request.
    ///
    /// - Parameters:
    ///   - key: The idempotency key of the gesture: the server performs requests with an equal key once.
    ///   - answer: The name of the array in the server's response. A success without it is an intermediary's, such as a gateway's
    ///     `{"error": "expired"}`.
    func submit(_ method: String, _ href: String, body: JSONValue?, key: String?, answer: String? = nil) async throws -> (
        response: HTTPResponse, value: JSONValue?
    ) {
        var request = try request(method, href)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        if let body {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = try body.encoded()
        }
        if let key { request.setValue(key, forHTTPHeaderField: "Idempotency-Key") }
        let isSafe = ["GET", "HEAD", "PUT", "DELETE"].contains(method.uppercased())
        return try await exchange(request, isRepeatable: isSafe || key != nil, answer: isOfServer(request.url) ? answer : nil)
    }

    /// Returns the absolute URL of an href.
    public func url(_ href: String) throws -> URL {
        guard let url = URL(href: href, base: base), url.isWeb, url.host != nil else { throw FeedClientError.invalidLink(href) }
        return url
    }

    /// Returns a request with headers, viewer, capabilities and languages for the server at `base`; requests to other servers contain none
    /// of them.
    func request(_ method: String, _ href: String) throws -> URLRequest {
        let url = try url(href)
        var request = URLRequest(url: url)
        request.httpMethod = method
        if isOfServer(url) {
            for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
            if let viewer { request.setValue(viewer, forHTTPHeaderField: viewerField) }
            if let capabilities { request.setValue(capabilities, forHTTPHeaderField: "Accept-Cells") }
            if !languages.isEmpty { request.setValue(Self.acceptLanguage(languages), forHTTPHeaderField: "Accept-Language") }
        }
        return request
    }

    private func isOfServer(_ url: URL?) -> Bool { url?.scheme == base.scheme && url?.host == base.host && url?.port == base.port }

    /// Sends a request whose response is JSON or empty. Any status but 2xx, and 304 for a cached response, is an error.
    func exchange(_ request: URLRequest, isRepeatable: Bool, answer: String? = nil) async throws -> (
        response: HTTPResponse, value: JSONValue?
    ) {
        try await send(request, isRepeatable: isRepeatable, limit: maxResponseBytes) { response in
            let isConditional = request.value(forHTTPHeaderField: "If-None-Match") != nil
            if let error = FeedClientError.signIn(response.status, response.fields, body: response.body, isConditional: isConditional) {
                throw error
            }
            guard (200..<300).contains(response.status) || response.status == 304 else {
                throw FeedClientError.refused(FeedProblem(response))
            }
            if response.body.isEmpty, [204, 304].contains(response.status) { return (response, nil) }
            guard let value = try? JSONValue(parsing: response.body), case .object = value,
                response.fields["content-type"]?.lowercased().contains("problem+json") != true
            else {
                throw FeedClientError.invalidResponse(reason: "no object of JSON")
            }
            if let answer, value[answer]?.array == nil { throw FeedClientError.invalidResponse(reason: "no \(answer)") }
            return (response, value)
        }
    }

    /// Sends a request, with retries if they may help and are safe. Throws `unreachable`, `unavailable`, or the errors of `read`.
    func send<Read>(
        _ request: URLRequest, isRepeatable: Bool, limit: Int, read: (HTTPResponse) throws -> Read
    ) async throws -> Read {
        do {
            return try await sendRepeatedly(request, isRepeatable: isRepeatable, limit: limit, read: read)
        } catch let error as FeedClientError where error.needsSignIn && isOfServer(request.url) {
            onSignInRequired?(error)
            throw error
        }
    }

    private func sendRepeatedly<Read>(
        _ request: URLRequest, isRepeatable: Bool, limit: Int, read: (HTTPResponse) throws -> Read
    ) async throws -> Read {
        var attempt = 1
        while true {
            let failure: FeedClientError
            var retryAfter: Double?
            do {
                let response = try await authorized(request, status: \.status) { try await transport.send($0, limit: limit) }
                guard [429, 502, 503, 504].contains(response.status) else { return try read(response) }
                retryAfter = response.retryAfter(now: now())
                failure = .unavailable(FeedProblem(response), retryAfter: retryAfter)
            } catch let error as CancellationError {
                throw error
            } catch is BodyTooLongError {
                throw FeedClientError.invalidResponse(reason: "the response is too long")
            } catch let error as FeedClientError {
                guard error.isRetryable else { throw error }
                failure = error
            } catch {
                try Task.checkCancellation()
                failure = .unreachable(reason: (error as? URLError).map { "\($0.code)" } ?? "\(error)")
            }
            guard isRepeatable, let delay = retry.delay(after: attempt, retryAfter: retryAfter) else { throw failure }
            try await retry.sleep(delay)
            attempt += 1
        }
    }

    /// Sends a request whose response is a stream, without retries.
    func open(_ request: URLRequest) async throws -> HTTPResponseStream {
        try await authorized(request, status: \.status, send: transport.stream)
    }

    /// Sends a request with the fields of `authorize`, and once more with refreshed fields if the response is 401.
    private func authorized<Response>(
        _ request: URLRequest, status: (Response) -> Int, send: (URLRequest) async throws -> Response
    ) async throws -> Response {
        guard let authorization, isOfServer(request.url) else { return try await send(request) }
        func sent(after refused: Authorization.Fields?) async throws -> (Response, Authorization.Fields) {
            let fields = try await authorization.fields(after: refused)
            var request = request
            for (name, value) in fields.values { request.setValue(value, forHTTPHeaderField: name) }
            return (try await send(request), fields)
        }
        let (response, fields) = try await sent(after: nil)
        return status(response) == 401 ? try await sent(after: fields).0 : response
    }

    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }

    private static let unreserved = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")

    private static func acceptLanguage(_ languages: [String]) -> String {
        languages.prefix(9).enumerated().map { $0 == 0 ? $1 : "\($1);q=0.\(10 - $0)" }.joined(separator: ", ")
    }
}
