/// The settings `kinds.*` of the file that declares kinds of item, sections and feeds.
public struct KindSettings: Sendable {
    /// The path of the file; empty for none.
    public var file = ""

    public init() {}
}

/// The settings `campaigns.*` of campaigns and of the file that declares them.
public struct CampaignSettings: Sendable {
    /// The path of the file; empty for none. The store may contain further campaigns.
    public var file = ""
    /// The time for which a reserved ad slot of a campaign counts as delivered without a reported impression.
    public var reservationTimeout: Duration = .seconds(300)

    public init() {}
}
