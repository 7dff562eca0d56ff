/// A field of a kind: what it is called, whether an item must have it, and which of its values are allowed.
public struct ItemField: Sendable {
    public let name: String
    public let isRequired: Bool
    private let check: @Sendable (ItemFields) throws(ItemFault) -> Void

    /// - Parameter check: reads the field from an item's fields, and throws as the kind's validation would.
    public init(_ name: String, isRequired: Bool = false, _ check: @escaping @Sendable (ItemFields) throws(ItemFault) -> Void) {
        self.name = name
        self.isRequired = isRequired
        self.check = check
    }

    /// Checks a text that every item is to have in this field.
    ///
    /// - Throws: ``ItemFault`` where no item can have it.
    public func validate(_ text: String) throws(ItemFault) {
        var bytes = [UInt8(ascii: "{")]
        JSONText.append(name.utf8, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        JSONText.append(text.utf8, to: &bytes)
        bytes.append(UInt8(ascii: "}"))
        try check(ItemFields(bytes))
    }
}
