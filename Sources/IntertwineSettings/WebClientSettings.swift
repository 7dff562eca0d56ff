/// The settings `web-client.*` of the web client.
public struct WebClientSettings: Sendable {
    public var isEnabled = true

    public init() {}
}
