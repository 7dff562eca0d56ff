internal import FoundationEssentials

/// The location of a claim: names of members separated by dots, such as `sub` or `realm_access.roles`.
package struct ClaimPath: Sendable, Hashable, CustomStringConvertible {
    package static let allowed = "names separated by dots, such as sub or realm_access.roles; a name with a dot in double quotes"

    static func isValid(_ text: String) -> Bool { ClaimPath(text) != nil }

    private static let maximumDepth = 8

    let names: [String]
    package let description: String

    package init?(_ text: String) {
        var names: [String] = []
        var rest = text[...]
        repeat {
            let name: Substring
            if rest.first == "\"" {
                name = rest.dropFirst().prefix { $0 != "\"" }
                guard name.endIndex < rest.endIndex else { return nil }
                rest = rest[name.endIndex...].dropFirst()
            } else {
                name = rest.prefix { $0 != "." && $0 != "\"" }
                rest = rest[name.endIndex...]
            }
            guard !name.isEmpty, names.count < Self.maximumDepth else { return nil }
            names.append(String(name))
            guard let dot = rest.first else { break }
            guard dot == "." else { return nil }
            rest = rest.dropFirst()
        } while true
        (self.names, description) = (names, text)
    }
}

struct ClaimKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer<ClaimKey> {
    /// Returns the texts at a path: of a string, a whole number or a Boolean value one, of an array one for each of these, otherwise none.
    func texts(at path: ClaimPath) -> [String] {
        var container = self
        for name in path.names.dropLast() {
            guard let next = try? container.nestedContainer(keyedBy: ClaimKey.self, forKey: ClaimKey(stringValue: name)) else { return [] }
            container = next
        }
        guard let last = path.names.last.map(ClaimKey.init(stringValue:)), container.contains(last) else { return [] }
        if let list = try? container.decode([ClaimText].self, forKey: last) { return list.compactMap(\.text) }
        return [(try? container.decode(ClaimText.self, forKey: last))?.text].compactMap { $0 }
    }
}

private struct ClaimText: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(String.self) {
            text = value
        } else if let value = try? container.decode(Bool.self) {
            text = String(value)
        } else if let value = try? container.decode(Int64.self) {
            text = String(value)
        } else {
            text = nil
        }
    }
}
