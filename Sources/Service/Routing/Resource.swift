internal import HTTPTypes

/// The routes of one pattern of paths. A class: looking for the one that a request means copies nothing.
final class Resource: Sendable {
    let routes: [Route]
    private let segments: [Route.Segment]
    fileprivate let literals: Int

    private init(_ routes: [Route], of first: Route) {
        self.routes = routes
        segments = first.segments
        literals = first.literals
    }

    /// The resources of routes; those with the most literal segments first, for where several match, that one is meant.
    static func all(_ routes: [Route]) -> [Resource] {
        var patterns: [String] = []
        for route in routes where !patterns.contains(route.pattern) { patterns.append(route.pattern) }
        let resources = patterns.compactMap { pattern in
            let own = routes.filter { $0.pattern == pattern }
            return own.first.map { Resource(own, of: $0) }
        }
        return resources.sorted { $0.literals > $1.literals }
    }

    /// How many segments its paths have.
    var length: Int { segments.count }

    var pattern: String { routes.first?.pattern ?? "" }

    func matches(_ path: [Substring]) -> Bool {
        guard path.count == segments.count else { return false }
        for index in path.indices {
            switch segments[index] {
            case .literal(let literal): guard path[index] == literal else { return false }
            case .parameter: guard !path[index].isEmpty else { return false }
            }
        }
        return true
    }

    /// The parameters of a path that matches, still encoded.
    func parameters(of path: [Substring]) -> [(name: String, value: Substring)] {
        zip(segments, path).compactMap { segment, text in
            guard case .parameter(let name) = segment else { return nil }
            return (name, text)
        }
    }

    func route(_ method: HTTPRequest.Method) -> Route? {
        routes.first { $0.method == method }
    }
}
