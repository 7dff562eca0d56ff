/// Why one JSON object is no item: the field, where one is to blame, and the reason, for whoever wrote it.
public struct ItemFault: Error, Sendable, Hashable, CustomStringConvertible {
    public var field: String?
    public var reason: String
    /// Where reading the bytes stopped, if they are no JSON at all.
    public var offset: Int?

    public init(field: String? = nil, reason: String, offset: Int? = nil) {
        self.field = field
        self.reason = reason
        self.offset = offset
    }

    init(_ fault: JSONFault) {
        self.init(reason: fault.reason.rawValue, offset: fault.offset)
    }

    public var description: String {
        if let field { "\(field): \(reason)" } else { reason }
    }

    /// A value as a message may show it: shortened, and without anything that a terminal or a log would take for a command.
    static func quoted(_ characters: ArraySlice<UInt8>) -> String {
        "\"\(shown(characters))\""
    }

    /// The same without quotes.
    public static func shown(_ characters: some Collection<UInt8>) -> String {
        let limit = 40
        var text = ""
        for scalar in String(decoding: characters.prefix(limit), as: UTF8.self).unicodeScalars {
            let isPlain = scalar.value >= 0x20 && !(0x7F..<0xA0).contains(scalar.value) && scalar.properties.generalCategory != .format
            text.unicodeScalars.append(isPlain ? scalar : "?")
        }
        return text + (characters.count > limit ? "…" : "")
    }

    public static func shown(_ text: some StringProtocol) -> String {
        shown(text.utf8)
    }
}
