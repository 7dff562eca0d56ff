public import IntertwineFeed

/// The extensions of an embedding program: kinds of item, cells and commands, each with one type and one line here.
///
/// ```swift
/// var extensions = ServiceExtensions()
/// extensions.dataSources["main"] = FlatDataSource(.content, order: .newest)
/// extensions.lists = ["followed"]
/// try await FeedService.serve(configuration: configuration, extensions: extensions, logger: logger)
/// ```
public struct ServiceExtensions: Sendable {
    /// Kinds of item in addition to the standard kinds and the kinds that configuration declares. `add(_:)` adds kinds that are `Codable` types.
    public var kinds: [any ItemKind] = []
    /// Commands in addition to those of the product. Slots name them.
    public var commands: [any Command] = []
    /// The data sources of feeds by name: `main` is `/feed`, any other one is served at `/feeds/{name}`.
    ///
    /// A data source replaces a declared feed of that name.
    public var dataSources: [String: any DataSource] = [:]
    /// The ad placement, which replaces `ads.scope` and `ads.per-page`.
    public var placement: (any AdPlacement)?
    /// Sources of ads, asked in this order, after campaigns and before house ads. Each page of the feeds is made for one request then.
    public var adSources: [any AdSource] = []
    /// Further routes of the public listener. A route that no request can reach, such as one of the product, ends the start.
    public var routes: [ServiceRoute] = []
    /// Further lists of viewers, which commands change and `GET /lists/{name}` shows.
    public var lists: [ViewerList] = []
    /// Middleware around all routes of the public listener, the first one outermost.
    public var middleware: [any ServiceMiddleware] = []
    /// Returns the time of day in milliseconds since 1970-01-01 UTC; nil for the system's clock.
    ///
    /// It is for tests. All data that expires at a time of day uses it; lines of the log do not.
    public var clock: (@Sendable () -> Int64)?
    var faults: [String] = []
    /// Registers cell factories. The registry contains all commands at that time.
    public var registerCells: @Sendable (inout CellFactories, CommandRegistry) throws -> Void

    /// Creates extensions with kinds, commands and cells. The other properties are set afterwards.
    ///
    /// - Parameter registerCells: Registers the factories of the kinds' cells.
    public init(
        kinds: [any ItemKind] = [], commands: [any Command] = [],
        registerCells: @escaping @Sendable (inout CellFactories, CommandRegistry) throws -> Void = { _, _ in }
    ) {
        self.kinds = kinds
        self.commands = commands
        self.registerCells = registerCells
    }

    var listErrors: [String] {
        var names: Set<ViewerList> = [.saved, .dismissed]
        return lists.compactMap { list in
            let isName = list.rawValue.wholeMatch(of: /[A-Za-z][A-Za-z0-9_-]{0,63}/) != nil
            guard isName else { return "the list '\(list.rawValue)': a name is a letter followed by letters, digits, _ or -, 64 at most" }
            return names.insert(list).inserted ? nil : "the list '\(list.rawValue)' is served already"
        }
    }

    func adSourceErrors(beside campaigns: [Campaign]) -> [String] {
        var names = Set(campaigns.map(\.id))
        return adSources.map(\.name).compactMap { name in
            guard name.wholeMatch(of: /[a-z0-9-]{2,64}/) != nil else {
                return "the source of ads '\(name)': a name has 2 to 64 of a-z, 0-9, -"
            }
            return names.insert(name).inserted ? nil : "the source of ads '\(name)': a campaign or another source has this name"
        }
    }

    func cellErrors(in factories: CellFactories) -> [String] {
        let known = factories.kinds.sorted().joined(separator: ", ")
        let variants = factories.variants(of: kinds)
        return kinds.filter { variants[$0.name]?.isEmpty ?? true }
            .map { "no factory makes cells of the kind '\($0.name)'; there are factories of \(known)" }
    }

    func registry() throws -> CommandRegistry {
        var registry = CommandRegistry.standard
        for command in commands { try registry.register(command) }
        for case let kind as any CellKind in kinds { try registry.add(kind.actions) }
        let errors = registry.all.flatMap(\.leaves).compactMap { ($0 as? any InputCommand)?.inputError }
        if let error = ConfigurationError(faults + errors) { throw error }
        return registry
    }
}
