internal import IntertwinePrimitives

/// A JSON value with ordered members, for descriptions and schemas.
package indirect enum OpenAPIValue: Sendable {
    case object([Member])
    case array([OpenAPIValue])
    case text(String)
    case integer(Int)
    case number(Double)
    case flag(Bool)
    case null
    case literal(String)
    case reference(Component)

    package struct Member: Sendable {
        package var name: String
        package var value: OpenAPIValue

        package init(_ name: String, _ value: OpenAPIValue) {
            self.name = name
            self.value = value
        }
    }

    package struct Component: Sendable {
        package enum Kind: String, Sendable, CaseIterable {
            case schemas, responses, parameters, headers, securitySchemes
        }

        package var kind: Kind
        package var name: String
        package var value: OpenAPIValue

        package init(_ kind: Kind, _ name: String, _ value: OpenAPIValue) {
            self.kind = kind
            self.name = name
            self.value = value
        }
    }

    package static func reference(_ component: Component, _ siblings: [Member]) -> OpenAPIValue {
        .object([Member("$ref", .reference(component))] + siblings)
    }

    package static func texts(_ words: [String]) -> OpenAPIValue { .array(words.map { .text($0) }) }
}

struct DocumentWriter {
    private(set) var text = ""
    private let reference: (OpenAPIValue.Component.Kind) -> String
    private var found: [OpenAPIValue.Component.Kind: [String: OpenAPIValue]] = [:]

    init(reference: @escaping (OpenAPIValue.Component.Kind) -> String) {
        self.reference = reference
    }

    mutating func write(_ value: OpenAPIValue) {
        switch value {
        case .object(let members): write(members, "{", "}") { $0.write($1) }
        case .array(let values): write(values, "[", "]") { $0.write($1) }
        case .text(let text): write(string: text)
        case .integer(let number): text += String(number)
        case .number(let number): text += number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
        case .flag(let flag): text += flag ? "true" : "false"
        case .null: text += "null"
        case .literal(let json): text += json
        case .reference(let component):
            found[component.kind, default: [:]][component.name] = component.value
            write(string: reference(component.kind) + component.name)
        }
    }

    private mutating func write(_ member: OpenAPIValue.Member) {
        write(string: member.name)
        text += ":"
        write(member.value)
    }

    func components() -> [(kind: OpenAPIValue.Component.Kind, members: [OpenAPIValue.Member])] {
        var seeker = self
        var count = -1
        var known: [OpenAPIValue.Component.Kind: [String: OpenAPIValue]] = [:]
        while count != seeker.found.values.reduce(0, { $0 + $1.count }) {
            count = seeker.found.values.reduce(0) { $0 + $1.count }
            for (kind, components) in seeker.found {
                for (name, value) in components where known[kind]?[name] == nil {
                    known[kind, default: [:]][name] = value
                    seeker.write(value)
                }
            }
        }
        return OpenAPIValue.Component.Kind.allCases.compactMap { kind in
            known[kind].map { components in
                (kind, components.sorted { $0.key < $1.key }.map { OpenAPIValue.Member($0.key, $0.value) })
            }
        }
    }

    private mutating func write<Element>(
        _ elements: [Element], _ open: String, _ close: String, _ write: (inout DocumentWriter, Element) -> Void
    ) {
        text += open
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            write(&self, element)
        }
        text += close
    }

    private mutating func write(string: String) {
        var bytes: [UInt8] = []
        bytes.append(jsonString: string)
        text += String(decoding: bytes, as: UTF8.self)
    }
}
