internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

/// The routes of a listener, for lookup. The table is immutable: a changed configuration has another table, and a running request
/// keeps the route that it found.
///
/// Why a class: it is passed to each request, and a closure returned through a generic type would be wrapped each time on the heap.
package final class RouteTable: Sendable {
    /// The resources by the number of path segments.
    private let resources: [Int: [PathNode]]
    let cachedLookup: Router.CachedLookup
    let pendingHandler: Router.PendingHandler

    package init(
        _ routes: [Route], cachedLookup: @escaping Router.CachedLookup = { _ in nil },
        pendingHandler: @escaping Router.PendingHandler = { _, _, _ in nil }
    ) {
        resources = Dictionary(grouping: PathNode.all(routes), by: \.length)
        // Deprecated routes skip the cached and pending responses, because only the general path adds the deprecation fields.
        let ending = Set(routes.filter { $0.deprecation != nil }.map(\.pattern))
        guard !ending.isEmpty else {
            (self.cachedLookup, self.pendingHandler) = (cachedLookup, pendingHandler)
            return
        }
        self.cachedLookup = { head in
            guard let found = cachedLookup(head), found.route.map({ !ending.contains($0) }) ?? true else { return nil }
            return found
        }
        self.pendingHandler = { head, peer, now in
            guard let found = pendingHandler(head, peer, now), !ending.contains(found.pattern) else { return nil }
            return found
        }
    }

    /// Returns the resource of a path, or nil if it does not exist.
    func resource(at path: [Substring]) -> PathNode? {
        resources[path.count]?.first { $0.matches(path) }
    }
}

/// The routes of one path pattern. Why a class: a lookup copies nothing.
final class PathNode: Sendable {
    private enum Segment: Sendable {
        case literal(String)
        case parameter(name: String, suffix: String)

        init(_ text: Substring) {
            guard text.hasPrefix("{"), let end = text.firstIndex(of: "}") else {
                self = .literal(String(text))
                return
            }
            self = .parameter(name: String(text[..<end].dropFirst()), suffix: String(text[end...].dropFirst()))
        }

        /// The precedence of a segment. A longer suffix is more specific.
        var weight: Int {
            switch self {
            case .literal: 2
            case .parameter(_, let suffix): suffix.isEmpty ? 0 : 1
            }
        }
    }

    private let routes: [Route]
    private let segments: [Segment]

    private init(_ routes: [Route], of first: Route) {
        self.routes = routes
        pattern = first.pattern
        // The pattern is split like request paths: the path `/` is one empty segment.
        segments = first.pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(Segment.init)
    }

    /// Returns the resources of routes. Those with the most literal segments come first, because they take precedence if several match.
    static func all(_ routes: [Route]) -> [PathNode] {
        var patterns: [String] = []
        for route in routes where !patterns.contains(route.pattern) { patterns.append(route.pattern) }
        let resources = patterns.compactMap { pattern in
            let own = routes.filter { $0.pattern == pattern }
            return own.first.map { PathNode(own, of: $0) }
        }
        return resources.sorted { $0.weight > $1.weight }
    }

    private var weight: Int { segments.reduce(0) { $0 + $1.weight } }

    /// The number of path segments.
    var length: Int { segments.count }

    let pattern: String

    func matches(_ path: [Substring]) -> Bool {
        guard path.count == segments.count else { return false }
        for index in path.indices {
            switch segments[index] {
            case .literal(let literal): guard path[index] == literal else { return false }
            case .parameter(_, let suffix):
                guard path[index].utf8.count > suffix.utf8.count, suffix.isEmpty || path[index].hasSuffix(suffix) else { return false }
            }
        }
        return true
    }

    /// Returns the parameters of a matching path, still encoded.
    func segments(of path: [Substring]) -> [(name: String, value: Substring)] {
        zip(segments, path).compactMap { segment, text in
            guard case .parameter(let name, let suffix) = segment else { return nil }
            return (name, suffix.isEmpty ? text : text.dropLast(suffix.count))
        }
    }

    /// Returns the route of a method. HEAD uses the route of GET; the server omits the body.
    func route(_ method: HTTPRequest.Method) -> Route? {
        routes.first { $0.method == (method == .head ? .get : method) }
    }

    /// The methods that are answered.
    var methods: [HTTPRequest.Method] {
        let methods = routes.map(\.method)
        return (methods.contains(.get) ? [.head] : []) + methods + [.options]
    }
}

/// The path and query of a request, split but not decoded: `%2F` does not separate segments. `%66eed` is equal to `feed`.
package struct RequestPath {
    package let path: [Substring]
    package let query: Substring

    package init(_ text: String) {
        // The text is split by bytes, because HTTP does not use grapheme clusters.
        let end = text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        path = PercentCoding.normalised(text[..<end]).utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
        ).map { Substring($0) }
        query = end == text.endIndex ? "" : text[text.utf8.index(after: end)...]
    }
}
