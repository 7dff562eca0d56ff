/// Writes the body of an item: a JSON object of strings, numbers and booleans, in the order in which the kind names them.
public struct ItemBody {
    private var bytes: [UInt8] = []

    public init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends a field, or nothing where it has no value.
    public mutating func append(_ field: String, _ characters: ArraySlice<UInt8>?) {
        guard let characters else { return }
        begin(field)
        JSONText.append(characters, to: &bytes)
    }

    /// The same for a number or a boolean, which is JSON as it stands.
    mutating func append(_ field: String, literal: ArraySlice<UInt8>?) {
        guard let literal else { return }
        begin(field)
        bytes.append(contentsOf: literal)
    }

    private mutating func begin(_ field: String) {
        bytes.append(bytes.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
        JSONText.append(field.utf8, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    public consuming func finish() -> [UInt8] {
        if bytes.isEmpty { bytes.append(UInt8(ascii: "{")) }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
