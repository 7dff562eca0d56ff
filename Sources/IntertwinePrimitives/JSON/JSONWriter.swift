/// Why not the encoder of Foundation: it creates a tree of boxed values and costs several times as much as reading the items of the page.
package struct JSONWriter {
    @usableFromInline package internal(set) var bytes: [UInt8]

    package mutating func clear(capacity: Int) {
        bytes.removeAll(keepingCapacity: true)
        bytes.reserveCapacity(capacity)
    }

    package init(capacity: Int) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    @inlinable package mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    @inlinable package mutating func append(_ json: Slice<UnsafeBufferPointer<UInt8>>) {
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: json))
    }

    @inlinable package mutating func append(_ json: [UInt8]) { bytes.append(contentsOf: json) }

    @inlinable package mutating func append(_ json: String) {
        bytes.append(contentsOf: json.utf8)
    }

    @inlinable package mutating func append(number: UInt64) {
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }

    @inlinable package mutating func withBytes<Value>(_ body: (inout [UInt8]) -> Value) -> Value { body(&bytes) }

    package mutating func write(_ value: Int64) { bytes.append(decimal: value) }

    package mutating func write(_ value: Double) {
        if let whole = Int64(exactly: value) {
            write(whole)
        } else if value.magnitude >= 0x1p63, value.magnitude < 1e21, let whole = Int128(exactly: value) {
            bytes.append(contentsOf: String(whole).utf8)
        } else if value.isFinite {
            bytes.append(contentsOf: value.description.utf8)
        } else {
            raw("null")
        }
    }

    package mutating func write(_ text: String?) {
        if let text { write(text) } else { raw("null") }
    }

    package mutating func write(_ text: String) {
        bytes.append(jsonString: text)
    }

    package mutating func writeCharacters(of text: String) {
        bytes.append(jsonCharactersOf: text)
    }
}

extension JSONWriter {
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .text(let text): write(text)
        case .integer(let number): write(number)
        case .number(let number): write(number)
        case .flag(let flag): raw(flag ? "true" : "false")
        case .null: raw("null")
        case .list(let values):
            raw("[")
            for (index, value) in values.enumerated() {
                if index > 0 { raw(",") }
                write(value)
            }
            raw("]")
        case .object(let members):
            raw("{")
            for (index, member) in members.enumerated() {
                if index > 0 { raw(",") }
                write(member.name)
                raw(":")
                write(member.value)
            }
            raw("}")
        }
    }
}
