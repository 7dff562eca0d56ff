internal import IntertwinePrimitives

/// How much a client wants answers of a media type, by the `Accept` field of its request (RFC 9110, 12.5.1).
package struct AcceptHeader {
    /// In lower case, with weights in thousandths.
    private let ranges: [(name: String, weight: Int)]

    /// - Parameter field: nil where there is none: everything is taken then.
    package init(_ field: String?) {
        guard let field, !field.utf8.isEmpty else {
            ranges = [("*/*", 1_000)]
            return
        }
        let bytes = Array(field.utf8)
        var ranges: [(name: String, weight: Int)] = []
        bytes.span.forEachWeightedMember { name, weight in
            // A weight that is none counts as none said.
            ranges.append((String(decoding: name).lowercased(), weight ?? 1_000))
            return true
        }
        self.ranges = ranges
    }

    /// In thousandths; 0 where it is not wanted at all.
    package func weight(of type: String) -> Int {
        let group = String(type.prefix { $0 != "/" }) + "/*"
        return named(type) ?? named(group) ?? named("*/*") ?? 0
    }

    /// Whether the type itself stands there, and is wanted no less than another one. Ranges do not ask for what goes on and on.
    package func asks(for type: String, ratherThan other: String) -> Bool {
        named(type).map { $0 > 0 && $0 >= weight(of: other) } ?? false
    }

    private func named(_ name: String) -> Int? { ranges.first { $0.name == name }?.weight }
}
