internal import IntertwinePrimitives

/// A factory of the hrefs in cells and pages: relative references, or absolute URLs below a public base URL.
///
/// Why a class: Every cell of a page refers to it.
public final class Links: Sendable {
    /// A function that maps the source URL of an image to the href from which clients load it.
    ///
    /// The arguments are the source URL, the geometry (nil for the original), and the time in milliseconds since 1970-01-01 UTC. The href
    /// must be constant within an hour.
    public typealias ImageHref = @Sendable (_ source: String, _ shape: ImageGeometry?, _ now: Int64) -> ImageLink

    /// An href of an image and its available scales. The scales are empty if the href always leads to the original.
    public struct ImageLink: Sendable, Hashable {
        /// The href: an absolute URL, or a path of this service that begins with a slash.
        public var href: String
        /// The available numbers of pixels per point, ascending.
        public var scales: [Int]

        /// Creates a link. Without scales, the href always leads to the original.
        public init(_ href: String, scales: [Int] = []) {
            self.href = href
            self.scales = scales
        }
    }

    package let base: String
    private let imageHref: ImageHref
    private let mediaHref: @Sendable (_ source: String) -> String
    package let known: (any ImageMetadataStore)?

    package init(
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

    /// Returns the href of an original image. An absolute href is used unchanged. A path that begins with a slash is appended to the base
    /// URL.
    public func image(_ source: String, now: Int64) -> String { below(imageHref(source, nil, now).href) }

    /// Returns the href of a video or audio file.
    public func media(_ source: String) -> String { below(mediaHref(source)) }

    /// Returns the binding of an image.
    ///
    /// ```swift
    /// let avatar = ImageGeometry(ImageBinding.Box(width: 75, height: 75), .fill(.attention), part: "avatar")
    /// let image = context.links.image("https://example.com/tt.jpg", avatar, scale: context.scale, now: context.now)
    /// let binding = CellBinding("avatar", .image(image))
    /// ```
    ///
    /// - Parameters:
    ///   - shape: The geometry of the image; nil for the original.
    ///   - scale: The requested number of pixels per point. If it is not available, the largest available scale below it is used.
    public func image(_ source: String, _ shape: ImageGeometry? = nil, scale: Int = 1, now: Int64) -> ImageBinding {
        let link = imageHref(source, shape, now)
        var href = below(link.href)
        if let best = link.scales.last(where: { $0 <= scale }), best > 1 { href += "@\(best)x" }
        guard let known else { return ImageBinding(href, box: shape?.box, scales: link.scales) }
        var image = ImageBinding(href, box: shape?.box, scales: link.scales, placeholder: known.placeholder(of: source))
        image.source = source
        return image
    }

    private func below(_ href: String) -> String {
        base.isEmpty || href.utf8.first != UInt8(ascii: "/") ? href : base + href
    }

    /// The template of the href that cancels an image request. `{request}` is replaced by the id of the request.
    public var imageRequest: String { base + "/images/requests/{request}" }

    /// Returns the href of a path of this service.
    public func href(_ path: String) -> String { base + path }

    /// The href to which clients send reports of events.
    public var events: String { base + "/events" }

    /// Returns the href that records a click and redirects to the destination of a cell.
    ///
    /// - Parameter token: The signed token of the cell, which contains only characters of a path segment.
    public func click(token: String) -> String {
        base + "/click/" + token
    }

    /// Returns the href that executes a command of a cell, such as `/cells/{id}/selection`.
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

    /// Returns the href that undoes an invocation.
    public func invocation(_ id: String) -> String {
        base + "/invocations/" + PercentCoding.encode(id, keeping: .segment)
    }

    /// Returns the href of a feed page. Layout, width and scale are included if they differ from the default.
    ///
    /// - Parameters:
    ///   - cursor: The cursor, which contains only base64url characters.
    ///   - client: The digest of the client's capabilities; nil if it sent none.
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
