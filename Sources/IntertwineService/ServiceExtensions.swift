// One import for programs that embed the service: what its own declarations speak of.
@_exported public import HTTPTypes
@_exported public import IntertwineDeclarations
@_exported public import IntertwineFeed
@_exported public import IntertwineHTTPServer
@_exported public import IntertwineObservability
@_exported public import IntertwineOperators
internal import IntertwineRouting
@_exported public import IntertwineStorage
@_exported public import IntertwineSync
@_exported public import IntertwineViewer
@_exported public import Logging

/// What a program that embeds the service adds to it: a kind of item, its cells and its commands are each one type and one line here.
public struct ServiceExtensions: Sendable {
    /// Kinds of item besides those that the product comes with and those that configuration declares.
    public var kinds: [any ItemKind] = []
    public var commands: [any Command] = []
    /// What feeds show, by their names: `main` is `/feed`, any other one is served at `/feeds/{name}`. One that configuration declares under
    /// the same name gives way.
    public var dataSources: [String: any DataSource] = [:]
    /// Where advertisements stand, in place of what `ads.scope` and `ads.per-page` say.
    public var placement: (any AdPlacement)?
    /// Where the items are kept, in place of the file at `store.database`. What writes items there is then the program's own matter: the operators'
    /// routes for items, takedowns, operations, imports and sources are not served, and neither sections nor sources can be declared.
    public var store: (any FeedStore)?
    /// Where actions are recorded, in place of the file beside the items'. Unless it is an `SQLiteLedger`, the operators' reports are not served, and
    /// nothing here removes its old events.
    public var ledger: (any Ledger)?
    /// Routes of the public listener. Those of the product go before where both match.
    public var routes: [ServiceRoute] = []
    /// Around all routes of the public listener, the first one outermost.
    public var middleware: [any ServiceMiddleware] = []
    /// The time of day, in milliseconds since 1970-01-01 UTC; the machine's where nil. For tests: all that the service remembers until a time of
    /// day goes by it, and lines of the log do not.
    public var clock: (@Sendable () -> Int64)?
    /// Registers cell factories; the registry holds all commands by then.
    public var registerCells: @Sendable (inout CellFactories, CommandRegistry) throws -> Void

    public init(
        kinds: [any ItemKind] = [], commands: [any Command] = [],
        registerCells: @escaping @Sendable (inout CellFactories, CommandRegistry) throws -> Void = { _, _ in }
    ) {
        self.kinds = kinds
        self.commands = commands
        self.registerCells = registerCells
    }

    /// The product's own commands and these.
    ///
    /// - Throws: where two have one name.
    func registry() throws -> CommandRegistry {
        var registry = CommandRegistry.standard
        for command in commands { try registry.register(command) }
        return registry
    }
}

/// A route that a program adds to the public listener. It stands in metrics and in the log under its pattern, and not in `/openapi.json`. Writes of
/// foreign web pages do not get to it (403); bodies may be of any media type.
public struct ServiceRoute: Sendable {
    /// Gets the request with its body, and the segments of the path that the pattern names, decoded. What it throws is 500, and in the log.
    public typealias Handle = @Sendable (_ request: ServerRequest, _ parameters: [String: String]) async throws -> ServerResponse

    private let method: HTTPRequest.Method
    private let pattern: String
    private let bodyLimit: Int?
    private let handle: Handle

    /// - Parameters:
    ///   - pattern: segments of the path; one in braces stands for any: `/recipes/{id}`.
    ///   - bodyLimit: the most bytes of a body; `limits.body` where nil. A longer one is 413.
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

/// Stands around all routes of the public listener: sees each request before they do, and its answer after them.
///
///     struct Timing: ServiceMiddleware {
///         func handle(_ request: ServerRequest, next: Next) async throws -> ServerResponse {
///             let begun = ContinuousClock.now
///             var response = try await next(request)
///             response.fields[.serverTiming] = "total;dur=\(ContinuousClock.now - begun)"
///             return response
///         }
///     }
///
/// It may answer by itself, hand on another request, change what comes back, or throw: what it throws becomes problem details, as of any
/// route. Requests for which there is no route, and those that the server refuses, never get to it. With a middleware, all pages and
/// clicks go the long way, by a task each.
public protocol ServiceMiddleware: Sendable {
    /// What stands behind it: the next middleware, and after the last one the routes.
    typealias Next = @Sendable (ServerRequest) async throws -> ServerResponse

    func handle(_ request: ServerRequest, next: Next) async throws -> ServerResponse
}

/// Has middleware called before another handler, the first one first.
struct MiddlewareHandler: HTTPHandler {
    let middleware: [any ServiceMiddleware]
    let handler: any HTTPHandler
    let logger: Logger

    func plan(for request: HTTPRequest, peer: PeerAddress) -> HandlerResult {
        handler.plan(for: request, peer: peer).around { sent, respond in
            do {
                return try await Self.respond(to: sent, through: middleware[...]) { asked in
                    // One that it changed may mean another route.
                    if asked.head.method == request.method, asked.head.path == request.path { return await respond(asked) }
                    return await handler.plan(for: asked.head, peer: peer).respond(to: asked)
                }
            } catch {
                let problem = Problem(error)
                if problem.status.kind == .serverError { logger.error("middleware failed", metadata: ["error": "\(error)"]) }
                return problem.response
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
