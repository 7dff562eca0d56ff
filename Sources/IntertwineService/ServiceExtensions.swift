// Embedding programs need one import only: these modules define the types in the declarations of this one.
@_exported public import HTTPTypes
@_exported public import IntertwineDeclarations
@_exported public import IntertwineFeed
@_exported public import IntertwineHTTPServer
@_exported public import IntertwineIdentity
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

/// Middleware around all routes of the public listener. It calls the next handler and changes its result.
///
/// The result is any of the four ways to answer a request. Middleware that only adds fields keeps cached pages and clicks as fast as they are.
/// Middleware that reads or changes the response runs around it in a task.
///
/// ```swift
/// struct Timing: ServiceMiddleware {
///     func handle(_ head: borrowing RequestHead, peer: PeerAddress, next: any HTTPHandler) -> HandlerResult {
///         next.handle(head, peer: peer) { request, respond in
///             let begun = ContinuousClock.now
///             var response = try await respond(request)
///             response.fields[.serverTiming] = "total;dur=\(ContinuousClock.now - begun)"
///             return response
///         }
///     }
/// }
/// ```
///
/// In a task it may pass on another request, change the response, or throw. An error becomes problem details, as in routes. Responses of
/// requests without a route, and of requests that the server refuses, belong to no task.
public protocol ServiceMiddleware: Sendable {
    /// Decides how a request is answered. Called on the event loop: it must be fast and must not block.
    ///
    /// - Parameter next: The next middleware, or the routes after the last one.
    func handle(_ head: borrowing RequestHead, peer: PeerAddress, next: any HTTPHandler) -> HandlerResult
}

/// A handler that calls middleware before another handler.
struct MiddlewareHandler: HTTPHandler {
    let middleware: any ServiceMiddleware
    let next: any HTTPHandler

    func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        middleware.handle(head, peer: peer, next: next)
    }

    func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields { next.refusalFields(field) }
}
