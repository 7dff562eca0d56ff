internal import IntertwineFeed

/// `signing.*`: the keys that cursors, click tokens and image URLs are signed with.
public struct SigningSettings: Sendable {
    /// 64 hexadecimal digits; empty for the key in the data folder, which is made at the first start.
    public var key = ""
    /// The key before, still accepted while links signed with it are about; empty for none.
    public var previousKey = ""

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        Self.read("signing.key", &key, from: &reader)
        Self.read("signing.previous-key", &previousKey, from: &reader)
    }

    private static func read(_ name: String, _ key: inout String, from reader: inout SettingsReader) {
        reader.read(
            name, &key, allowed: "64 hexadecimal digits, or nothing", secret: true,
            where: { $0.isEmpty || SigningKey(hexadecimal: $0) != nil })
    }
}
