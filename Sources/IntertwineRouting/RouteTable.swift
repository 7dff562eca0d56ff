internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

/// The routes of a listener, to be looked up in. Never changed: another configuration has another table, and a request that is being answered
/// goes on with the route it found.
///
/// A class: it is handed out for each request, and a closure that a generic type hands out would be wrapped anew each time, on the heap.
package final class RouteTable: Sendable {
    /// By the number of segments of their paths.
    private let resources: [Int: [PathNode]]
    let cachedLookup: Router.CachedLookup
    let pendingHandler: Router.PendingHandler

    package init(
        _ routes: [Route], cachedLookup: @escaping Router.CachedLookup = { _ in nil },
        pendingHandler: @escaping Router.PendingHandler = { _, _, _ in nil }
    ) {
        resources = Dictionary(grouping: PathNode.all(routes), by: \.length)
        // Those whose end is planned go the long way, where their answers are told so.
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

    /// The resource that a path means, or nil where there is none.
    func resource(at path: [Substring]) -> PathNode? {
        resources[path.count]?.first { $0.matches(path) }
    }
}

/// The routes of one pattern of paths. A class: looking for the one that a request means copies nothing.
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

        /// A longer suffix says more.
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
        // As requests are taken apart: the path `/` is one empty segment.
        segments = first.pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(Segment.init)
    }

    /// The resources of routes; those with the most literal segments first, for where several match, that one is meant.
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

    /// How many segments its paths have.
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

    /// The parameters of a path that matches, still encoded.
    func segments(of path: [Substring]) -> [(name: String, value: Substring)] {
        zip(segments, path).compactMap { segment, text in
            guard case .parameter(let name, let suffix) = segment else { return nil }
            return (name, suffix.isEmpty ? text : text.dropLast(suffix.count))
        }
    }

    /// HEAD is answered by GET's route; the server leaves the body out.
    func route(_ method: HTTPRequest.Method) -> Route? {
        routes.first { $0.method == (method == .head ? .get : method) }
    }

    /// Those that are answered, in some way.
    var methods: [HTTPRequest.Method] {
        let methods = routes.map(\.method)
        return (methods.contains(.get) ? [.head] : []) + methods + [.options]
    }
}

/// The path and query of a request, taken apart but not decoded: `%2F` is no separator. Only `%66eed` is `feed`.
package struct RequestPath {
    package let path: [Substring]
    package let query: Substring

    package init(_ text: String) {
        // Bytes are taken for bytes: what a person reads as one character is none of HTTP's business.
        let end = text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        path = PercentCoding.normalised(text[..<end]).utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
        ).map { Substring($0) }
        query = end == text.endIndex ? "" : text[text.utf8.index(after: end)...]
    }
}
