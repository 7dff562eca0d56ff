package import HTTPTypes
internal import Synchronization

extension HTTPHandler {
    /// Handles a request with a closure around the response, which runs in a task.
    ///
    /// A middleware that only adds fields uses ``HandlerResult/adding(_:)`` instead, which needs no task. A response that was computed on the
    /// loop passes unchanged: it belongs to no route, or refuses the request.
    ///
    /// ```swift
    /// struct ServerName: HTTPHandler {
    ///     let next: any HTTPHandler
    ///     func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
    ///         next.handle(head, peer: peer, around: { request, respond in
    ///             try await respond(request).adding([.server: "example"])
    ///         })
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - body: Returns the response. Its second parameter is the rest of the handler. It accepts a changed request, also one of another
    ///     route.
    public func handle(
        _ head: borrowing RequestHead, peer: PeerAddress,
        around body:
            @escaping @Sendable (
                _ request: ServerRequest, _ next: @escaping @Sendable (ServerRequest) async throws -> ServerResponse
            ) async throws -> ServerResponse
    ) -> HandlerResult {
        let original = head.request
        return handle(head, peer: peer).around { request, respond in
            let response = try await body(request) { request in
                let isChanged = request.head.method != original.method || request.head.path != original.path
                guard isChanged else { return try await respond(request).decoded }
                return try await self.result(for: request).response(to: request).decoded
            }
            return .response(response)
        }
    }

    package func response(
        to head: HTTPRequest, body: [UInt8], from peer: PeerAddress
    ) async throws -> (response: ServerResponse, body: [UInt8]) {
        let request = ServerRequest(
            head: head, body: RequestBody(storage: .collected(body, nil)), peer: peer,
            id: RequestID(
                .generated(.random(in: .min ... .max), .random(in: .min ... .max)), in: UnsafeBufferPointer(start: nil, count: 0)))
        let result: HandlerResult
        do { result = try self.result(for: request) } catch { return (Problem(error).refusal(), Problem(error).json()) }
        var response: ServerResponse
        do { response = try await result.response(to: request).decoded } catch { response = result.onError(error, request.id) }
        if let fields = result.fields { response.fields.append(contentsOf: fields.fields) }
        guard head.method != .head else { return (response, []) }
        switch response.body {
        case .content(.bytes(let bytes)): return (response, bytes)
        case .content(.file(let file)): return (response, file.bytes)
        case .events: return (response, [])
        case .stream(_, let produce):
            let collector = BodyCollector()
            try await produce(ResponseWriter(collector))
            return (response, collector.bytes)
        }
    }

    private func result(for request: ServerRequest) throws(HTTPParseError) -> HandlerResult {
        handle(try RequestHead.of(request), peer: request.peer)
    }
}

extension HandlerResult {
    package func around(
        sender: String? = nil, beforeBody: Bool = false,
        _ body: @escaping @Sendable (ServerRequest, _ respond: @escaping RequestTask.Responder) async throws -> HandlerResponse
    ) -> HandlerResult {
        var task: RequestTask
        switch kind {
        case .respond: return self
        case .task(let own): task = own
        case .cached, .pending: task = RequestTask { try await response(to: $0) }
        }
        if let sender { task.sender = sender }
        var respond = task.respond
        if beforeBody, !task.streamsBody {
            task.streamsBody = true
            respond = { [respond] request in
                let body = try await request.body.collected()
                return try await respond(ServerRequest(head: request.head, body: body, peer: request.peer, id: request.id))
            }
        }
        task.respond = { [respond] in try await body($0, respond) }
        var result = self
        result.kind = .task(task)
        return result
    }

    fileprivate func response(to request: ServerRequest) async throws -> HandlerResponse {
        switch kind {
        case .cached(let response): return .encoded(response)
        case .respond(let response): return .response(response)
        case .task(let task): return try await task.respond(request)
        case .pending(let start):
            let future = ResponseFuture()
            let cancel = start(ResponsePromise(future))
            return try await withTaskCancellationHandler {
                try await future.value()
            } onCancel: {
                cancel?()
            }
        }
    }
}

extension RequestHead {
    fileprivate static func of(_ request: ServerRequest) throws(HTTPParseError) -> RequestHead {
        let head = request.head
        var text = "\(head.method.rawValue) \(head.path ?? "/") HTTP/1.1\r\nHost: \(head.authority ?? "")\r\n"
        for field in head.headerFields where field.name != .contentLength { text += "\(field.name.rawName): \(field.value)\r\n" }
        if let body = request.body.bytes, !body.isEmpty { text += "Content-Length: \(body.count)\r\n" }
        let source = Array((text + "\r\n").utf8)
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: source.count)
        defer { bytes.deallocate() }
        _ = bytes.initialize(fromContentsOf: source)
        let parser = HeadParser(limits: HTTPServerConfiguration().headLimits)
        guard try parser.parse(UnsafeBufferPointer(bytes)) else { throw .bad("The head of the request is incomplete.") }
        return try RequestHead(parser, UnsafeBufferPointer(bytes), name: .generated(0, 0)).copy()
    }
}

final class BodyCollector: Sendable {
    private let collected = Mutex<[UInt8]>([])

    var bytes: [UInt8] { collected.withLock { $0 } }

    func append(_ bytes: [UInt8]) {
        collected.withLock { $0 += bytes }
    }
}
