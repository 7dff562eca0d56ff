internal import Foundation
public import HTTPTypes
public import IntertwineFeed
public import IntertwineHTTPServer
public import Logging

/// A route that a program adds to the public listener.
///
/// Metrics and logs contain its pattern; `/openapi.json` does not describe it. Writes of foreign web pages are refused (403) before they reach
/// it. Bodies may have any media type.
///
/// ```swift
/// ServiceRoute(.get, "/recipes/{id}/portions/{count}") { _, context in
///     let count = try context.parameters.require("count", as: Int.self)
///     guard count <= 12 else { throw Refusal(.unprocessableContent, "There are 12 portions at most.") }
///     return try .json(["recipe": context.parameters.require("id")])
/// }
/// ```
public struct ServiceRoute: Sendable {
    /// Handles a request with its body.
    ///
    /// A `Refusal` becomes problem details with its status, and an error of the store 503. Any other error results in 500 and a log line.
    public typealias Handle = @Sendable (_ request: ServerRequest, _ context: RouteContext) async throws -> ServerResponse

    private let method: HTTPRequest.Method
    private var pattern: String
    private let bodyLimit: Int?
    private var middleware: [any ServiceMiddleware] = []
    private let handle: Handle

    /// Creates a route of a method and a pattern.
    ///
    /// - Parameters:
    ///   - pattern: The segments of the path; a name in braces matches any segment: `/recipes/{id}`.
    ///   - bodyLimit: The maximum size of a body in bytes; nil for `limits.max-body`. A longer body gets 413.
    public init(_ method: HTTPRequest.Method, _ pattern: String, bodyLimit: Int? = nil, handle: @escaping Handle) {
        (self.method, self.pattern, self.bodyLimit, self.handle) = (method, pattern, bodyLimit, handle)
    }

    /// Returns routes below a common path, with middleware of their own.
    ///
    /// ```swift
    /// extensions.routes = ServiceRoute.group("/kitchen", middleware: [TokenGate()], [orders, stock])
    /// ```
    ///
    /// - Parameters:
    ///   - prefix: The path before the patterns of the routes, such as `/kitchen`.
    ///   - middleware: Middleware around the routes, the first one outermost. Groups may contain groups.
    public static func group(
        _ prefix: String = "", middleware: [any ServiceMiddleware] = [], _ routes: [ServiceRoute]
    ) -> [ServiceRoute] {
        routes.map { route in
            var route = route
            route.pattern = prefix + route.pattern
            route.middleware = middleware + route.middleware
            return route
        }
    }

    func route(in parts: RouteContext.Parts) -> Route {
        let names = pattern.split(separator: "/").compactMap { segment in
            segment.hasPrefix("{") ? String(segment.dropFirst().prefix { $0 != "}" }) : nil
        }
        var route = Route(method, pattern, bodyLimit: bodyLimit) { [pattern, handle] request in
            let parameters = RouteParameters(pattern: pattern, names.map { ($0, request.segment($0)) })
            return try await handle(request.request, RouteContext(of: request, route: pattern, parameters, in: parts))
        }
        guard !middleware.isEmpty else { return route }
        route.around = { [pattern, middleware] head, peer, matched in
            let handler = middleware.reversed().reduce(matched) { next, middleware in
                RouteMiddlewareHandler(middleware: middleware, route: pattern, next: next)
            }
            return handler.handle(head, peer: peer)
        }
        return route
    }
}

/// The environment of a request to a ``ServiceRoute``: its parameters and viewer, and the parts of the service.
///
/// ```swift
/// ServiceRoute(.get, "/followed") { _, context in
///     guard try await context.viewer != nil else { throw Refusal(.forbidden, "A viewer is required.") }
///     return try .json(await context.cells(on: "followed", limit: 20))
/// }
/// ```
public struct RouteContext: Sendable {
    struct Parts: Sendable {
        let store: any FeedStore
        let ledger: any Ledger
        let links: Links
        let clock: @Sendable () -> Int64
        let logger: Logger
        let clients: ClientReader
    }

    /// The pattern of the route.
    public let route: String
    /// The parameters of the path.
    public let parameters: RouteParameters
    /// The time of the request in milliseconds since 1970-01-01 UTC.
    public let now: Int64
    private let request: RouteRequest
    private let parts: Parts

    init(of request: RouteRequest, route: String, _ parameters: RouteParameters, in parts: Parts) {
        (self.request, self.route, self.parameters, self.parts, now) = (request, route, parameters, parts, request.now)
    }

    /// The hrefs of cells and images.
    public var links: Links { parts.links }
    /// The log of the service.
    public var logger: Logger { parts.logger }
    /// Returns the current time of the service in milliseconds since 1970-01-01 UTC.
    public var clock: @Sendable () -> Int64 { parts.clock }

    /// The viewer that the request names; nil if it names none.
    ///
    /// - Throws: An error that becomes problem details: 401 if a token is rejected, 403 if the sender is no trusted proxy, 400 if the name is invalid.
    public var viewer: String? {
        get async throws { try await parts.clients.identity(of: request).viewer }
    }

    /// Reads items of the store, all of them at one moment.
    public func read<Value: Sendable>(_ body: @escaping @Sendable (any FeedSnapshot) throws -> Value) async throws -> Value {
        try await parts.store.read { try body($0) }
    }

    /// Returns the newest cells on one of the viewer's lists, the newest one first; none if the request names no viewer.
    public func cells(on list: ViewerList, limit: Int = 100) async throws -> [String] {
        guard let viewer = try await viewer else { return [] }
        return try await parts.ledger.cells(on: list, of: viewer, after: nil, limit: limit).map(\.cell)
    }

    /// Returns true if a cell is on one of the viewer's lists.
    public func contains(_ cell: String, on list: ViewerList) async throws -> Bool {
        guard let viewer = try await viewer else { return false }
        return try await parts.ledger.contains(cell, on: list, of: viewer)
    }

    /// Returns a parameter of the query; nil if it is missing.
    ///
    /// ```swift
    /// let limit = try context.query("limit", as: Int.self) ?? 20
    /// ```
    ///
    /// - Throws: An error that becomes problem details (400) and names the parameter: it is repeated, or is no value of the type.
    public func query<Value: LosslessStringConvertible>(_ name: String, as type: Value.Type = String.self) throws -> Value? {
        try request.query.text(name).map { try RouteParameters.value($0, of: name) }
    }
}

/// The decoded parameters in the path of a request.
public struct RouteParameters: Sendable {
    /// A name that the pattern of the route does not contain: a mistake of the program, which results in 500 and a log line.
    private struct UnknownParameterError: Error, CustomStringConvertible {
        let description: String
    }

    private let pattern: String
    private let values: [(name: String, value: String)]

    init(pattern: String, _ values: [(name: String, value: String)]) {
        (self.pattern, self.values) = (pattern, values)
    }

    /// Returns a parameter of the path.
    ///
    /// ```swift
    /// let id = try context.parameters.require("id")
    /// let count = try context.parameters.require("count", as: Int.self)
    /// ```
    ///
    /// - Throws: An error that becomes problem details (400) and names the parameter if it is no value of the type. A name that the pattern does not
    ///   contain results in 500, and in a log line with the name.
    public func require<Value: LosslessStringConvertible>(_ name: String, as type: Value.Type = String.self) throws -> Value {
        guard let found = values.first(where: { $0.name == name }) else {
            let names = values.map { "'\($0.name)'" }.joined(separator: ", ")
            throw UnknownParameterError(
                description: "\(pattern) has no parameter '\(name)'; it has \(names.isEmpty ? "none" : names)")
        }
        return try Self.value(found.value, of: name)
    }

    static func value<Value: LosslessStringConvertible>(_ text: String, of name: String) throws(Problem) -> Value {
        guard let value = Value(text) else {
            throw .invalidParameter(name, .invalid, "\(name) must be a value of the type \(Value.self).")
        }
        return value
    }
}

extension ServerResponse {
    /// Returns a response with a value as JSON.
    ///
    /// ```swift
    /// let route = ServiceRoute(.post, "/recipes") { _, _ in
    ///     try .json(["recipe": "ramen"], status: .created)
    /// }
    /// ```
    ///
    /// - Throws: The error of the value's encoding.
    public static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, fields: HTTPFields = [:]
    ) throws -> ServerResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var fields = fields
        fields[.contentType] = "application/json"
        return ServerResponse(status: status, fields: fields, body: Array(try encoder.encode(value)))
    }
}
