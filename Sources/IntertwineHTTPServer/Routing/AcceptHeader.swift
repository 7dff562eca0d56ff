internal import IntertwinePrimitives

/// A client's preferences for media types from the `Accept` field of its request (RFC 9110, 12.5.1).
package struct AcceptHeader {
    private let ranges: [(name: String, weight: Int)]

    package init(_ field: String?) {
        guard let field, !field.utf8.isEmpty else {
            ranges = [("*/*", 1_000)]
            return
        }
        let bytes = Array(field.utf8)
        var ranges: [(name: String, weight: Int)] = []
        bytes.span.forEachWeightedMember { name, weight in
            // A malformed weight counts as missing.
            ranges.append((String(decoding: name).lowercased(), weight ?? 1_000))
            return true
        }
        self.ranges = ranges
    }

    package func weight(of type: String) -> Int {
        let group = String(type.prefix { $0 != "/" }) + "/*"
        return named(type) ?? named(group) ?? named("*/*") ?? 0
    }

    /// A range such as `*/*` is not sufficient, so that it never selects an endless stream.
    package func asks(for type: String, ratherThan other: String) -> Bool {
        named(type).map { $0 > 0 && $0 >= weight(of: other) } ?? false
    }

    private func named(_ name: String) -> Int? { ranges.first { $0.name == name }?.weight }
}
