internal import IntertwinePrimitives

/// Makes the hrefs that cells and pages carry: relative references, or absolute ones below a public base URL.
///
/// A class, because every cell of a page refers to it.
public final class Links: Sendable {
    /// Turns a picture's source URL into the href that clients load it from.
    ///
    /// - Parameters: the source URL, the box that it is shown in, nil for the original, and the time in milliseconds since 1970-01-01 UTC;
    ///   the href must stay the same within an hour of it.
    public typealias ImageHref = @Sendable (_ source: String, _ shape: ImageGeometry?, _ now: Int64) -> ImageLink

    /// An href, and the scales at which it can be had: none where it is the original's whatever is asked for.
    public struct ImageLink: Sendable, Hashable {
        public var href: String
        public var scales: [Int]

        public init(_ href: String, scales: [Int] = []) {
            self.href = href
            self.scales = scales
        }
    }

    let base: String
    private let imageHref: ImageHref
    private let mediaHref: @Sendable (_ source: String) -> String
    /// What is known of pictures; nil where nothing ever is.
    let known: (any ImageMetadataStore)?

    /// - Parameters:
    ///   - base: the public base URL, such as `https://feed.example.com`; nil for relative references. A slash at its end is dropped.
    ///   - image: without, pictures are loaded from their source.
    ///   - media: what is played from elsewhere than its source says; without, everything is played from its source.
    ///   - known: what is known of pictures; nil where nothing ever is.
    public init(
        base: String? = nil, image: @escaping ImageHref = { source, _, _ in ImageLink(source) },
        media: @escaping @Sendable (_ source: String) -> String = { $0 },
        known: (any ImageMetadataStore)? = nil
    ) {
        mediaHref = media
        self.known = known
        var base = base ?? ""
        while base.hasSuffix("/") { base.removeLast() }
        self.base = base
        imageHref = image
    }

    /// The href of a picture as it is. What the minting gives is taken as it is where it is absolute, and put below the base where it begins
    /// with a slash.
    public func image(_ source: String, now: Int64) -> String { below(imageHref(source, nil, now).href) }

    /// The href of what is played.
    public func media(_ source: String) -> String { below(mediaHref(source)) }

    /// A picture for a part of a cell.
    ///
    /// - Parameters:
    ///   - shape: how it is shown; nil for the original.
    ///   - scale: pixels per point that the client wishes for; where there are none so many, it gets the most there are.
    public func image(_ source: String, _ shape: ImageGeometry? = nil, scale: Int = 1, now: Int64) -> ImageBinding {
        let link = imageHref(source, shape, now)
        var href = below(link.href)
        if let best = link.scales.last(where: { $0 <= scale }), best > 1 { href += "@\(best)x" }
        guard let known else { return ImageBinding(href, box: shape?.box, scales: link.scales) }
        var picture = ImageBinding(href, box: shape?.box, scales: link.scales, placeholder: known.placeholder(of: source))
        picture.source = source
        return picture
    }

    private func below(_ href: String) -> String {
        base.isEmpty || href.utf8.first != UInt8(ascii: "/") ? href : base + href
    }

    /// The template of the href that cancels a picture's request; `{request}` stands for the request's id.
    public var imageRequest: String { base + "/images/requests/{request}" }

    /// A path of this service, below the base.
    public func href(_ path: String) -> String { base + path }

    public var events: String { base + "/events" }

    public func click(token: String) -> String {
        base + "/click/" + token
    }

    /// Where a slot of a cell is performed: `/cells/{id}/selection`.
    public func cell(_ id: String, _ resource: String) -> String {
        let id = PercentCoding.encode(id, keeping: .segment)
        var href = ""
        href.reserveCapacity(base.utf8.count + 8 + id.utf8.count + resource.utf8.count)
        href += base
        href += "/cells/"
        href += id
        href += "/"
        href += resource
        return href
    }

    public func selection(_ id: String) -> String {
        base + "/selections/" + PercentCoding.encode(id, keeping: .segment)
    }

    /// A page of a feed. The cursor is of base64url characters alone; layout, width and scale stand there where they are not the usual ones, and
    /// the digest of what the client can show where it gave one.
    public func page(
        path: String, cursor: String, limit: Int, layout: CellLayout = .collection, width: Int? = nil, scale: Int = 1,
        followsChanges: Bool = false, client: String? = nil
    ) -> String {
        var href = ""
        href.reserveCapacity(base.utf8.count + path.utf8.count + cursor.utf8.count + 64)
        href += base
        href += path
        href += "?cursor="
        href += cursor
        href += "&limit="
        href += String(limit)
        if layout != .collection { href += "&layout=" + layout.rawValue }
        if let width { href += "&width=" + String(width) }
        if scale != 1 { href += "&scale=" + String(scale) }
        if followsChanges { href += "&changes=true" }
        if let client { href += "&client=" + client }
        return href
    }
}
