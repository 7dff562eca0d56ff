/// `viewer.*`: the page that shows the feed in a browser.
public struct ViewerSettings: Sendable {
    public var isServed: Bool

    init(_ reader: inout SettingsReader) throws {
        isServed = try reader.read("viewer.enabled", default: true)
    }
}
