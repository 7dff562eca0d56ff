// Embedding programs need one import only: these modules define the types in the declarations of this one.
@_exported public import HTTPTypes
@_exported public import IntertwineDeclarations
@_exported public import IntertwineFeed
@_exported public import IntertwineHTTPServer
@_exported public import IntertwineObservability
@_exported public import IntertwineOperators
internal import IntertwineRouting
@_exported public import IntertwineStorage
@_exported public import IntertwineSync
@_exported public import IntertwineWebClient
@_exported public import Logging

/// The extensions of an embedding program: kinds of item, cells and commands, each with one type and one line here.
public struct ServiceExtensions: Sendable {
    /// Kinds of item in addition to the standard kinds and the kinds that configuration declares.
    public var kinds: [any ItemKind] = []
    public var commands: [any Command] = []
    /// The data sources of feeds by name: `main` is `/feed`, any other one is served at `/feeds/{name}`.
    ///
    /// A data source replaces a declared feed of that name.
    public var dataSources: [String: any DataSource] = [:]
    /// The ad placement, which replaces `ads.scope` and `ads.per-page`.
    public var placement: (any AdPlacement)?
    /// The store of the items, which replaces the file `store.database`.
    ///
    /// The program is responsible for writes to it. The admin routes of items, takedowns, operations, imports and sources are not served, and
    /// neither sections nor sources can be declared.
    public var store: (any FeedStore)?
    /// The ledger, which replaces the file beside the items' database.
    ///
    /// Unless it is an `SQLiteLedger`, the reports of the admin API are not served, and the service does not remove its old events.
    public var ledger: (any Ledger)?
    /// Further routes of the public listener. If a request matches two routes, the product's route handles it.
    public var routes: [ServiceRoute] = []
    /// Middleware around all routes of the public listener, the first one outermost.
    public var middleware: [any ServiceMiddleware] = []
    /// Returns the time of day in milliseconds since 1970-01-01 UTC; nil for the system's clock.
    ///
    /// It is for tests. All data that expires at a time of day uses it; lines of the log do not.
    public var clock: (@Sendable () -> Int64)?
    /// Registers cell factories. The registry contains all commands at that time.
    public var registerCells: @Sendable (inout CellFactories, CommandRegistry) throws -> Void

    public init(
        kinds: [any ItemKind] = [], commands: [any Command] = [],
        registerCells: @escaping @Sendable (inout CellFactories, CommandRegistry) throws -> Void = { _, _ in }
    ) {
        self.kinds = kinds
        self.commands = commands
        self.registerCells = registerCells
    }

    /// Returns the registry of the product's and these commands.
    ///
    /// - Throws: An error if two commands have one name.
    func registry() throws -> CommandRegistry {
        var registry = CommandRegistry.standard
        for command in commands { try registry.register(command) }
        return registry
    }
}

/// A route that a program adds to the public listener.
///
/// Metrics and logs contain its pattern; `/openapi.json` does not describe it. Writes of foreign web pages are refused (403) before they reach
/// it. Bodies may have any media type.
public struct ServiceRoute: Sendable {
    /// Handles a request with its body and the decoded path segments that the pattern names. An error results in 500 and a log line.
    public typealias Handle = @Sendable (_ request: ServerRequest, _ parameters: [String: String]) async throws -> ServerResponse

    private let method: HTTPRequest.Method
    private let pattern: String
    private let bodyLimit: Int?
    private let handle: Handle

    /// - Parameters:
    ///   - pattern: The segments of the path; a name in braces matches any segment: `/recipes/{id}`.
    ///   - bodyLimit: The maximum size of a body in bytes; nil for `limits.max-body`. A longer body gets 413.
    public init(_ method: HTTPRequest.Method, _ pattern: String, bodyLimit: Int? = nil, handle: @escaping Handle) {
        (self.method, self.pattern, self.bodyLimit, self.handle) = (method, pattern, bodyLimit, handle)
    }

    var route: Route {
        let names = pattern.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
        return Route(method, pattern, bodyLimit: bodyLimit) { request in
            let parameters = names.map { ($0, request.segment($0)) }
            return try await handle(request.request, Dictionary(parameters, uniquingKeysWith: { first, _ in first }))
        }
    }
}

/// Middleware around all routes of the public listener, which sees each request before them and its response after them.
///
/// ```swift
/// struct Timing: ServiceMiddleware {
///     func handle(_ request: ServerRequest, next: Next) async throws -> ServerResponse {
///         let begun = ContinuousClock.now
///         var response = try await next(request)
///         response.fields[.serverTiming] = "total;dur=\(ContinuousClock.now - begun)"
///         return response
///     }
/// }
/// ```
///
/// It may respond itself, pass on another request, change the response, or throw. An error becomes problem details, as in routes. Requests
/// without a route, and requests that the server refuses, do not reach it. With middleware, every page and click is handled by a task.
public protocol ServiceMiddleware: Sendable {
    /// The next handler: the next middleware, or the routes after the last one.
    typealias Next = @Sendable (ServerRequest) async throws -> ServerResponse

    func handle(_ request: ServerRequest, next: Next) async throws -> ServerResponse
}

/// A handler that calls middleware before another handler, in order.
struct MiddlewareHandler: HTTPHandler {
    let middleware: [any ServiceMiddleware]
    let handler: any HTTPHandler
    let logger: Logger

    func plan(for request: HTTPRequest, peer: PeerAddress) -> HandlerResult {
        handler.plan(for: request, peer: peer).around { sent, respond in
            do {
                return try await Self.respond(to: sent, through: middleware[...]) { asked in
                    // A request that middleware changed may have another route.
                    if asked.head.method == request.method, asked.head.path == request.path { return await respond(asked) }
                    return await handler.plan(for: asked.head, peer: peer).respond(to: asked)
                }
            } catch {
                let problem = Problem(error)
                if problem.status.kind == .serverError { logger.error("middleware failed", metadata: ["error": "\(error)"]) }
                return problem.response(to: sent.id)
            }
        }
    }

    func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse {
        handler.refuse(request, peer: peer, with: response)
    }

    func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields { handler.refusalFields(field) }

    func refused(_ method: RequestMethod?, peer: PeerAddress, status: Int) { handler.refused(method, peer: peer, status: status) }

    private static func respond(
        to request: ServerRequest, through middleware: ArraySlice<any ServiceMiddleware>, _ respond: @escaping HandlerResult.Responder
    ) async throws -> ServerResponse {
        guard let first = middleware.first else { return await respond(request) }
        return try await first.handle(request) { try await Self.respond(to: $0, through: middleware.dropFirst(), respond) }
    }
}
