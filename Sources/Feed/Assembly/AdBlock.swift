/// The advertisements of one page, and what the cursors of its neighbours have to say about them.
struct AdBlock {
    private(set) var cells: [CellReader.Cell] = []
    private(set) var omissions: [FeedPage.Omission] = []
    /// The index of content in front of which the middle of the feed lies, where it lies on this page.
    private(set) var midpointIndex: Int?
    private var rotation: (before: Int64?, after: Int64?) = (nil, nil)
    private var midpoint: Int64?
    private var hasMetAdvertisements = false

    /// The next ones of the rotation.
    init(rotating count: Int, cursor: PageCursor?, advertisements: AdvertisementReader) throws {
        var advertisements = advertisements
        cells = try advertisements.next(count, cursor?.direction ?? .forward, of: cursor?.rotation)
        omissions = advertisements.omissions
        rotation = (cells.first?.position ?? cursor?.rotation, cells.last?.position ?? cursor?.rotation)
    }

    /// All of them, where the middle of the feed lies on this page.
    ///
    /// The middle is a position that the whole walk keeps, so the page it lies on is met once, whatever is inserted or deleted meanwhile:
    /// even the item at the middle may go, and the block then stands before the next one.
    /// - Parameter midpoint: the position before which they stand; nil where the feed was empty when the walk began.
    init(atMidpoint midpoint: Int64?, among content: PageContent, cursor: PageCursor?, advertisements: AdvertisementReader) throws {
        self.midpoint = midpoint
        let isHere: Bool
        switch cursor?.direction ?? .forward {
        case .forward:
            let isAhead = Self.lies(midpoint, after: cursor?.position)
            isHere = isAhead && (!content.hasAfter || !Self.lies(midpoint, after: content.cells.last?.position))
            hasMetAdvertisements = isAhead
        case .backward:
            let hasMet = cursor?.hasMetAdvertisements ?? false
            isHere = !hasMet && Self.lies(midpoint, after: content.before)
            hasMetAdvertisements = hasMet || isHere
        }
        guard isHere else { return }
        var advertisements = advertisements
        cells = try advertisements.all()
        omissions = advertisements.omissions
        midpointIndex =
            midpoint.map { midpoint in
                content.cells.firstIndex { $0.position >= midpoint } ?? content.cells.count
            } ?? content.cells.count / 2
    }

    /// Nothing lies before the start, and the middle of an empty feed lies at its start.
    private static func lies(_ midpoint: Int64?, after position: Int64?) -> Bool {
        guard let position else { return true }
        return midpoint.map { $0 > position } ?? false
    }

    /// The cursor of the page after, or nil on the last.
    func next(_ content: PageContent, after cursor: PageCursor?) -> PageCursor? {
        guard content.hasAfter else { return nil }
        let position = content.cells.last?.position ?? cursor.map { PageContent.saturating($0.position, plus: -1) }
        return position.map { PageCursor(direction: .forward, position: $0, rotation: rotation.after, midpoint: midpoint) }
    }

    /// The cursor of the page before, or nil on the first.
    func previous(_ content: PageContent, before cursor: PageCursor?) -> PageCursor? {
        guard content.hasBefore else { return nil }
        let position = content.cells.first?.position ?? cursor.map { PageContent.saturating($0.position, plus: 1) }
        return position.map {
            PageCursor(
                direction: .backward, position: $0, rotation: rotation.before, midpoint: midpoint,
                hasMetAdvertisements: hasMetAdvertisements)
        }
    }
}
