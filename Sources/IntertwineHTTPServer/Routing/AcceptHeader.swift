internal import IntertwinePrimitives

/// A client's preferences for media types from the `Accept` field of its request (RFC 9110, 12.5.1).
package struct AcceptHeader {
    /// The names in lower case, with weights in thousandths.
    private let ranges: [(name: String, weight: Int)]

    /// Parses an `Accept` field.
    ///
    /// - Parameter field: The value of the field. If it is nil or empty, all types are accepted.
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

    /// Returns the weight of a type in thousandths; 0 if the type is not accepted.
    package func weight(of type: String) -> Int {
        let group = String(type.prefix { $0 != "/" }) + "/*"
        return named(type) ?? named(group) ?? named("*/*") ?? 0
    }

    /// Returns true if the field names the type itself with at least the weight of the other type.
    /// A range such as `*/*` is not sufficient, so that it never selects an endless stream.
    package func asks(for type: String, ratherThan other: String) -> Bool {
        named(type).map { $0 > 0 && $0 >= weight(of: other) } ?? false
    }

    private func named(_ name: String) -> Int? { ranges.first { $0.name == name }?.weight }
}
