package import IntertwinePrimitives

package enum Component: String, CaseIterable {
    case schemas, responses, parameters, headers

    fileprivate static let mark = "\u{0}"

    package func reference(_ name: String, _ value: JSONValue) -> JSONValue.Member { .init("\(Self.mark)\(rawValue)/\(name)", value) }
}

extension JSONValue {
    package static func texts(_ words: [String]) -> JSONValue { .list(words.map { .text($0) }) }

    /// Why no error: the tests compare all examples with their schemas.
    static func example(_ json: String) -> JSONValue { (try? JSONValue(json: Array(json.utf8))) ?? .text(json) }
}

struct ComponentCollector {
    let reference: (_ kind: String, _ name: String) -> String
    private(set) var found: [String: [String: JSONValue]] = [:]

    mutating func resolved(_ value: JSONValue) -> JSONValue {
        switch value {
        case .list(let elements): .list(elements.map { resolved($0) })
        case .object(let members): .object(members.map { resolved($0) })
        default: value
        }
    }

    private mutating func resolved(_ member: JSONValue.Member) -> JSONValue.Member {
        guard member.name.hasPrefix(Component.mark) else { return .init(member.name, resolved(member.value)) }
        let path = member.name.dropFirst().split(separator: "/", maxSplits: 1).map(String.init)
        let (kind, name) = (path[0], path[1])
        if found[kind]?[name] == nil {
            let component = resolved(member.value)
            found[kind, default: [:]][name] = component
        }
        return .init("$ref", .text(reference(kind, name)))
    }

    func components(_ kind: Component) -> [JSONValue.Member] {
        (found[kind.rawValue] ?? [:]).sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }
    }
}
