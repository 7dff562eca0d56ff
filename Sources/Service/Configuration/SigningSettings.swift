/// `signing.*`: the keys that cursors, click tokens and image URLs are signed with.
public struct SigningSettings: Sendable {
    /// 64 hexadecimal digits; empty for the key in the data folder, which is made at the first start.
    public var key: String
    /// The key before, still accepted while links signed with it are about; empty for none.
    public var previousKey: String

    init(_ reader: inout SettingsReader) throws {
        key = try Self.key("signing.key", from: &reader)
        previousKey = try Self.key("signing.previous-key", from: &reader)
    }

    private static func key(_ name: String, from reader: inout SettingsReader) throws -> String {
        try reader.read(
            name, default: "", allowed: "64 hexadecimal digits, or nothing", secret: true,
            where: { $0.isEmpty || $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) })
    }
}
