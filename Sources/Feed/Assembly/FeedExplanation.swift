/// Why a page looks as it does, for operators.
public struct FeedExplanation: Sendable {
    public struct Place: Sendable, Hashable {
        public var cell: String
        public var form: ItemForm
        /// Where the item stands in the order of its lane.
        public var position: Int64
        /// The reuse identifier of the factory that made the cell.
        public var identifier: String
        /// The type of that factory.
        public var factory: String?
        /// The index within the page's advertisements; nil for content.
        public var adSlot: Int?
    }

    public var places: [Place]
    /// Which advertisements the placement asked for.
    public var supply: AdSupply
    /// The position, among the advertisements, of the page's first one, with which the rotation goes on here; nil where it has none.
    public var rotationStart: Int64?
    /// What would have been on the page, content and advertisements, and why it is not.
    public var omissions: [FeedPage.Omission]
    /// Advertisements that are on no page, and why; the first ones, as many as were asked for.
    public var excludedAdvertisements: [FeedPage.Omission]
    public var next: String?
    public var previous: String?
}
