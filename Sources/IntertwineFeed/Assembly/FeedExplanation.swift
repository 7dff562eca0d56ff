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

    /// One advertisement, and where in the feed it is shown.
    public struct Advertisement: Sendable, Hashable {
        public var form: ItemForm
        public var id: String
        /// Where it stands in the order of its lane.
        public var position: Int64
        /// How many advertisements come before it in the rotation; nil where it has no part in it.
        public var rank: Int?
        /// The first page that shows it, counted from 1 at the feed's start, and its index within that page's advertisements.
        public var page: Int?
        public var slot: Int?
        public var isOnThisPage: Bool
        /// Why no page shows it; nil where one does.
        public var absence: Absence?
    }

    public enum Absence: Sendable, Hashable {
        /// No cell can be made of it.
        case omitted(FeedPage.Omission.Reason)
        /// The feed ends after so many pages, which show so many advertisements in all.
        case feedEnds(pages: Int, shown: Int)
        /// No page that was looked at shows it: so many, and there are more.
        case notAmong(pages: Int)
    }

    public var places: [Place]
    /// Which advertisements the placement asked for.
    public var supply: AdSupply
    /// The position, among the advertisements, of the page's first one, with which the rotation goes on here; nil where it has none.
    public var rotationStart: Int64?
    /// The page's number, from 1; nil where a walk from the feed's start, with the same limit, layout and width, does not meet its cursor.
    public var page: Int?
    /// What would have been on the page, content and advertisements, and why it is not.
    public var omissions: [FeedPage.Omission]
    /// The first advertisements, as many as were asked for.
    public var advertisements: [Advertisement]
    public var next: String?
    public var previous: String?
}
