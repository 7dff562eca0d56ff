/// How much a client wants answers of a media type, by the `Accept` field of its request (RFC 9110, 12.5.1).
package struct AcceptedTypes {
    /// Ranges beyond these are not read.
    private static let limit = 32

    /// In lower case, with weights in thousandths.
    private let ranges: [(name: String, weight: Int)]

    /// - Parameter field: nil where there is none: everything is taken then.
    package init(_ field: String?) {
        ranges =
            (field ?? "").utf8.isEmpty
            ? [("*/*", 1_000)] : (field ?? "").lowercased().split(separator: ",").prefix(Self.limit).map(Self.range)
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

    /// `text/html;level=1;q=0.5`. A weight that is none counts as none said.
    private static func range(_ text: Substring) -> (String, Int) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map { part in
            String(part.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
        }
        let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) }
        return (parts.first ?? "", weight.map { $0 >= 0 && $0 <= 1 ? Int($0 * 1_000) : 1_000 } ?? 1_000)
    }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
}
