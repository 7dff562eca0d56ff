internal import HTTPTypes
internal import IntertwinePrimitives

/// Why a class: each request retains it.
package final class RouteTable: Sendable {
    /// The resources by their number of segments, then by the hash of the first segment, or without one if it is a parameter. Those with the
    /// most literal segments come first, because they take precedence if several match.
    private let levels: [(literal: [UInt64: [Resource]], general: [Resource])]

    package init(_ routes: [Route]) {
        let all = Resource.all(routes)
        let longest = all.map(\.segmentCount).max() ?? 0
        levels = (0...longest).map { count in
            let level = all.filter { $0.segmentCount == count }
            let hashes = level.map { $0.firstLiteral.map { FNV1a.hash($0) } }
            let literal = Set(hashes.compactMap(\.self)).map { key in (key, zip(level, hashes).filter { $1 == nil || $1 == key }.map(\.0)) }
            return (Dictionary(uniqueKeysWithValues: literal), level.filter { $0.firstLiteral == nil })
        }
    }

    func resource(for head: borrowing RequestHead) -> (resource: Resource?, isEscaped: Bool) {
        head.withPath { path in
            let found = resource(at: path)
            guard found.isEscaped else { return found }
            let normalised = Array(PercentCoding.normalised(String(decoding: path)[...]).utf8)
            return (resource(at: normalised.span).resource, true)
        }
    }

    private func resource(at path: Span<UInt8>) -> (resource: Resource?, isEscaped: Bool) {
        var (segmentCount, firstSegment, isEscaped) = (0, FNV1a(), false)
        path.withUnsafeBufferPointer { path in
            segmentCount = path.first == .slash ? 0 : 1
            for byte in path {
                if byte == .slash {
                    segmentCount += 1
                } else if segmentCount == 1 {
                    firstSegment.combine(byte)
                }
                if byte == UInt8(ascii: "%") { isEscaped = true }
            }
        }
        guard segmentCount < levels.count else { return (nil, isEscaped) }
        let level = levels[segmentCount]
        return ((level.literal[firstSegment.value] ?? level.general).first { $0.matches(path) }, isEscaped)
    }
}

/// Why a class: a request copies nothing.
final class ServedRoute: Sendable {
    let declaration: Route
    let method: RequestMethod

    init(_ route: Route) {
        declaration = route
        method = RequestMethod(route.method)
    }
}

/// Why a class: a request copies nothing.
final class Resource: Sendable {
    private enum Segment: Sendable {
        case literal([UInt8])
        case parameter(name: String, suffix: [UInt8])

        init(_ text: Substring) {
            guard text.hasPrefix("{"), let end = text.firstIndex(of: "}") else {
                self = .literal(Array(text.utf8))
                return
            }
            self = .parameter(name: String(text[..<end].dropFirst()), suffix: Array(text[end...].dropFirst().utf8))
        }

        var weight: Int {
            switch self {
            case .literal: 2
            case .parameter(_, let suffix): suffix.isEmpty ? 0 : 1
            }
        }

        func matches(_ path: Span<UInt8>, _ part: Range<Int>) -> Bool {
            switch self {
            case .literal(let literal): part.count == literal.count && Self.isEqual(path, part, literal)
            case .parameter(_, let suffix):
                part.count > suffix.count && Self.isEqual(path, part.upperBound - suffix.count..<part.upperBound, suffix)
            }
        }

        private static func isEqual(_ path: Span<UInt8>, _ part: Range<Int>, _ bytes: [UInt8]) -> Bool {
            for index in bytes.indices where path[part.lowerBound + index] != bytes[index] { return false }
            return true
        }
    }

    let pattern: String
    let methods: [HTTPRequest.Method]
    let allow: String
    private let routes: [ServedRoute]
    private let segments: [Segment]

    private init(_ pattern: String, _ routes: [Route]) {
        self.pattern = pattern
        self.routes = routes.map(ServedRoute.init)
        let own = routes.map(\.method)
        methods = (own.contains(.get) ? [.head] : []) + own + [.options]
        allow = methods.map(\.rawValue).joined(separator: ", ")
        // The pattern is split like request paths: the path `/` is one empty segment.
        segments = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(Segment.init)
    }

    static func all(_ routes: [Route]) -> [Resource] {
        var patterns: [String] = []
        for route in routes where !patterns.contains(route.pattern) { patterns.append(route.pattern) }
        let resources = patterns.map { pattern in Resource(pattern, routes.filter { $0.pattern == pattern }) }
        return resources.sorted { $0.weight > $1.weight }
    }

    static func form(of pattern: String) -> [String] {
        pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { text in
            switch Segment(text) {
            case .literal(let literal): String(decoding: literal, as: UTF8.self)
            case .parameter(_, let suffix): "{}" + String(decoding: suffix, as: UTF8.self)
            }
        }
    }

    private var weight: Int { segments.reduce(0) { $0 + $1.weight } }

    var segmentCount: Int { segments.count }

    var firstLiteral: [UInt8]? { if case .literal(let first)? = segments.first { first } else { nil } }

    func matches(_ path: Span<UInt8>) -> Bool {
        var start = path.isEmpty || path[0] != .slash ? 0 : 1
        for segment in segments {
            let end = Self.end(of: path, start)
            guard segment.matches(path, start..<end) else { return false }
            start = end + 1
        }
        return true
    }

    func route(_ method: RequestMethod) -> ServedRoute? {
        routes.first { $0.method == (method == .head ? .get : method) && $0.method != .other }
    }

    func parameters(of path: Substring) -> [(name: String, value: Substring)] {
        let parts = path.utf8.dropFirst().split(separator: .slash, omittingEmptySubsequences: false)
        return zip(segments, parts).compactMap { segment, part in
            guard case .parameter(let name, let suffix) = segment else { return nil }
            return (name, Substring(part.dropLast(suffix.count)))
        }
    }

    func parameter(_ name: String, of path: Span<UInt8>) -> String? {
        var start = 1
        for segment in segments {
            let end = Self.end(of: path, start)
            if case .parameter(name, let suffix) = segment {
                return String(decoding: path.extracting(start..<max(start, end - suffix.count)))
            }
            start = end + 1
        }
        return nil
    }

    private static func end(of path: Span<UInt8>, _ start: Int) -> Int {
        var end = min(start, path.count)
        while end < path.count, path[end] != .slash { end += 1 }
        return end
    }
}

package struct RouteMatch: Sendable {
    let resource: Resource
    package let peer: PeerAddress
    /// The time in milliseconds since 1970-01-01 UTC.
    package let now: Int64

    package func segment(_ name: String, of head: borrowing RequestHead) -> String {
        head.withPath { resource.parameter(name, of: $0) } ?? ""
    }
}
