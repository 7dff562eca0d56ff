internal import IntertwineHTTPServer
internal import IntertwinePrimitives

extension Schema {
    init(_ value: JSONValue) {
        guard case .object(let members) = value else {
            self = .any
            return
        }
        self = members.reduce(.any) { $0.with($1.name, OpenAPIValue($1.value)) }
    }
}

extension OpenAPIValue {
    fileprivate init(_ value: JSONValue) {
        self =
            switch value {
            case .text(let text): .text(text)
            case .integer(let number): Int(exactly: number).map { .integer($0) } ?? .number(Double(number))
            case .number(let number): .number(number)
            case .flag(let flag): .flag(flag)
            case .null: .null
            case .list(let elements): .array(elements.map { OpenAPIValue($0) })
            case .object(let members): .object(members.map { Member($0.name, OpenAPIValue($0.value)) })
            }
    }
}
