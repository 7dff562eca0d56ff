public import HTTPTypes
public import IntertwineFeed
public import IntertwineHTTPServer
internal import IntertwineRouting

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
    /// Routes of the public listener. Those of the product go before where both match.
    public var routes: [ServiceRoute] = []
    /// Around all routes of the public listener, the first one outermost.
    public var middleware: [any ServiceMiddleware] = []
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

/// A route that a program adds to the public listener. It stands in metrics and in the log under its pattern, and not in `/openapi.json`.
public struct ServiceRoute: Sendable {
    /// Gets the request with its body, and the segments of the path that the pattern names, decoded. What it throws is 500, and in the log.
    public typealias Handle = @Sendable (_ request: ServerRequest, _ parameters: [String: String]) async throws -> ServerResponse

    let method: HTTPRequest.Method
    let pattern: String
    let bodyLimit: Int?
    let handle: Handle

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
