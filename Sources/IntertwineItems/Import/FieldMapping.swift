internal import IntertwineJSON
internal import IntertwinePrimitives

/// A mapping from the values of a remote source to the fields of an item.
///
/// ```swift
/// let mapping = FieldMapping([
///     ("id", .pointer(JSONPointer(member: "uuid"))),
///     ("type", .constant("plain")),
/// ])
/// ```
public struct FieldMapping: Sendable, Hashable {
    /// The origin of a field's value.
    public enum Origin: Sendable, Hashable {
        /// The value at a pointer in an object of the source.
        case pointer(JSONPointer)
        /// A constant text for every item.
        case constant(String)
    }

    private let fields: [(name: String, origin: Origin)]

    /// Creates a mapping.
    ///
    /// - Parameter fields: All fields of an item. If a name occurs twice, the kind rejects the item.
    public init(_ fields: [(name: String, origin: Origin)]) {
        self.fields = fields
    }

    /// Returns true if both mappings have equal fields in one order.
    public static func == (left: FieldMapping, right: FieldMapping) -> Bool {
        left.fields.elementsEqual(right.fields) { $0 == $1 }
    }

    /// Hashes the names and origins of all fields.
    public func hash(into hasher: inout Hasher) {
        for field in fields {
            hasher.combine(field.name)
            hasher.combine(field.origin)
        }
    }

    /// Returns the fields of the item for an object of the source. Missing values and null are omitted.
    func fields(from object: JSONObject) throws(ItemError) -> ItemFields {
        var bytes = [UInt8(ascii: "{")]
        bytes.reserveCapacity(object.range.count)
        for (name, origin) in fields {
            let value: ArraySlice<UInt8>
            switch origin {
            case .constant(let text):
                var quoted: [UInt8] = []
                quoted.append(jsonString: text.utf8)
                value = quoted[...]
            case .pointer(let pointer):
                guard let token = try token(at: pointer, for: name, in: object), token.kind != .null else { continue }
                value = object.bytes[token.kind == .string ? token.range.lowerBound - 1..<token.range.upperBound + 1 : token.range]
            }
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(jsonString: name.utf8)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: value)
        }
        bytes.append(UInt8(ascii: "}"))
        return try ItemFields(bytes, isLenient: true)
    }

    private func token(at pointer: JSONPointer, for name: String, in object: JSONObject) throws(ItemError) -> JSONToken? {
        do {
            return try pointer.value(in: object)
        } catch {
            throw ItemError(field: name, reason: error.reason)
        }
    }

    /// Returns an error for the operator of the source, with the pointer from which the field was read.
    func located(_ fault: ItemError) -> ItemError {
        guard let field = fault.field, case .pointer(let pointer)? = fields.first(where: { $0.name == field })?.origin else { return fault }
        return ItemError(field: "\(field) (from \(pointer))", reason: fault.reason)
    }
}
