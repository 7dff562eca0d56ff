internal import IntertwinePrimitives

/// Which of a source's values become which fields of an item.
public struct FieldMapping: Sendable, Hashable {
    public enum Origin: Sendable, Hashable {
        case pointer(JSONPointer)
        /// The same text for every item.
        case constant(String)
    }

    private let fields: [(name: String, origin: Origin)]

    /// - Parameter fields: all the fields that an item gets; where one name is given twice, the kind refuses the item.
    public init(_ fields: [(name: String, origin: Origin)]) {
        self.fields = fields
    }

    public static func == (left: FieldMapping, right: FieldMapping) -> Bool {
        left.fields.elementsEqual(right.fields) { $0 == $1 }
    }

    public func hash(into hasher: inout Hasher) {
        for field in fields {
            hasher.combine(field.name)
            hasher.combine(field.origin)
        }
    }

    /// The fields of the item that an object of the source is. What the source does not have is left out, as is null.
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
        return try ItemFields(bytes)
    }

    private func token(at pointer: JSONPointer, for name: String, in object: JSONObject) throws(ItemError) -> JSONToken? {
        do {
            return try pointer.value(in: object)
        } catch {
            throw ItemError(field: name, reason: error.reason)
        }
    }

    /// A fault as whoever runs the source wants to read it: with the place the field was taken from.
    func located(_ fault: ItemError) -> ItemError {
        guard let field = fault.field, case .pointer(let pointer)? = fields.first(where: { $0.name == field })?.origin else { return fault }
        return ItemError(field: "\(field) (from \(pointer))", reason: fault.reason)
    }
}
