internal import IntertwineFeed
internal import IntertwinePrimitives
internal import IntertwineRouting

/// Schemas of pages of cells, as clients receive them.
extension Schema {
    static let page = Schema.object([
        .required(
            "cells", .list(of: .cell),
            """
            Content items, at most `page.limit` of them, the page's advertisements, and the headers of the sections that begin on it. `id` is \
            unique within them.
            """),
        .required("page", .paging),
    ]).described("One page of cells, in the order in which they are shown.").examples(
        #"""
        {"cells": [{"id": "ad:1", "identifier": "AdvertisementCollectionViewCell", "size": {"width": 220, "height": 220},
        "actions": {"configuration": {"type": "bind", "bindings": {"content": {"type": "image", "href":
        "/images/AXuJAAecogdxsOhe8SjHHrGI3Gabd5Y/aHR0cHM6Ly9hZHMuZXhhbXBsZS5jb20vMS5wbmc"}}}, "cancellation": {"type":
        "request", "method": "DELETE", "href": "/images/requests/{request}", "templated": true}, "selection": {"type":
        "link", "href": "/click/kWaFAAEAB5v5AABhZDoxewYoes4OQtjDmmoYLaAlRQ"}, "impression": {"type": "request", "method":
        "POST", "href": "/events", "body": {"events": [{"type": "impression", "cell": "ad:1", "token":
        "kWaFAAEAB5v5AABhZDoxhf68C_gOsrJndt62ynrVzA"}]}}}}, {"id": "user:tt", "identifier": "CircularUserCollectionViewCell",
        "size": {"width": 300, "height": 190}, "actions": {"configuration": {"type": "bind", "bindings": {"username": {
        "type": "text", "text": "Tongue Twister"}, "avatar": {"type": "image", "href":
        "/images/AXuJAAecoioHpRy2i46ncVRsnkNx24E/aHR0cHM6Ly9waWN0dXJlcy5leGFtcGxlLmNvbS90dC5wbmc"}}}, "cancellation": {
        "type": "request", "method": "DELETE", "href": "/images/requests/{request}", "templated": true}, "selection": {
        "type": "request", "method": "POST", "href": "/cells/user:tt/selection"}, "deselection": {"type": "request",
        "method": "DELETE", "href": "/cells/user:tt/selection"}}}], "page": {"protocol": 1, "limit": 1, "next":
        "/feed?cursor=kWaFAAHIvCWGzdh81gIAAAAAACAAAAAAAAAAEAAAn-Hll1lZbKzCgwxbkmlHsQ&limit=1", "previous": null}}
        """#
    ).named("Page")
    private static let paging = Schema.object([
        .required(
            "protocol", .integer(minimum: 1),
            "The version of the protocol; clients accept newer ones (Documentation/protocol.md)."),
        .required("limit", .integer(minimum: 1, maximum: 100), "How many content items the page may hold."),
        .required("next", .string(format: "uri-reference").orNull, "The href of the next page; null on the last. To be followed as it is."),
        .required(
            "previous", .string(format: "uri-reference").orNull, "The href of the page before; null on the first. To be followed as it is."),
        .optional(
            "sections", Schema.list(of: .string(minLength: 1), isUnique: true).examples(#"["events", "main"]"#),
            "The names of the sections that the page meets, in order. Only in feeds that have sections."),
        .optional(
            "syncToken", .string(pattern: "^[A-Za-z0-9_-]+$"),
            """
            The opaque token for requests of the page's changes; about 600 characters for a page of 20. Present only with `changes=true`. Absent if \
            the page has long ids and the token would exceed 6,144 characters.
            """),
        .optional(
            "omitted",
            .list(
                of: .object([
                    .required("kind", .string(minLength: 1), "The kind of item."), .required("count", .count, "How many of them."),
                    .required(
                        "reason", .string,
                        "`unknown-cell`: the client supports none of their cells; `unknown-type`: nor what they bind or do. The list is open."
                    ),
                    .optional("identifiers", .list(of: .string), "Those cells."),
                    .optional("types", .list(of: .string), "The types of bindings and actions that are not known."),
                ])), "What was passed over because the client cannot show it. Only where it says what it can show."),
    ]).described("Where the page stands in its list.").named("Paging")
    static let cell = Schema.object([
        .required(
            "id", .string(minLength: 1, format: "cell-id"),
            """
            Unique within an answer and stable across requests: `user:` or `ad:` and the item's id, `section:` and the name of the section that a \
            header begins. Opaque to clients.
            """),
        .required("identifier", .identifier),
        .optional("version", .integer(minimum: 1), "Of what the cell binds; 1 where it is missing."),
        .required("size", .size),
        .required("actions", .cellActions),
        .optional("state", .cellState),
    ]).titled("Cell view model").described(
        """
        A cell view model: what is shown of one item, and what can be done with it. Members that are not described here may be added; clients \
        ignore what they do not know.
        """
    ).examples(
        #"""
        {"id": "user:tt", "identifier": "CircularUserCollectionViewCell", "size": {"width": 300, "height": 190}, "actions": {
        "configuration": {"type": "bind", "bindings": {"username": {"type": "text", "text": "Tongue Twister"}, "avatar": {"type": "image", "href":
        "/images/AXuJAAecoioHpRy2i46ncVRsnkNx24E/aHR0cHM6Ly9waWN0dXJlcy5leGFtcGxlLmNvbS90dC5wbmc"}}}, "cancellation": {
        "type": "request", "method": "DELETE", "href": "/images/requests/{request}", "templated": true}, "selection": {
        "type": "request", "method": "POST", "href": "/cells/user:tt/selection"}, "deselection": {"type": "request",
        "method": "DELETE", "href": "/cells/user:tt/selection"}}}
        """#,
        #"""
        {"id": "ad:1", "identifier": "AdvertisementCollectionViewCell", "size": {"width": 220, "height": 220}, "actions": {
        "configuration": {"type": "bind", "bindings": {"content": {"type": "image", "href":
        "/images/AXuJAAecogdxsOhe8SjHHrGI3Gabd5Y/aHR0cHM6Ly9hZHMuZXhhbXBsZS5jb20vMS5wbmc"}}}, "cancellation": {"type":
        "request", "method": "DELETE", "href": "/images/requests/{request}", "templated": true}, "selection": {"type":
        "link", "href": "/click/kWaFAAEAB5v5AABhZDoxewYoes4OQtjDmmoYLaAlRQ"}, "impression": {"type": "request", "method":
        "POST", "href": "/events", "body": {"events": [{"type": "impression", "cell": "ad:1", "token":
        "kWaFAAEAB5v5AABhZDoxhf68C_gOsrJndt62ynrVzA"}]}}}}
        """#
    ).named("ViewModel")
    private static let cellState = Schema.object([
        .optional("saved", .boolean, "Whether the viewer has saved it."),
        .optional("selected", .boolean, "Whether the viewer has selected it, and not deselected it since."),
    ]).described("The state of the cell for the viewer; missing if the viewer did nothing with it, and for requests without a viewer.")
        .examples(
            #"{"saved": true}"#
        ).named("CellState")
    static let feeds = Schema.object([
        .required(
            "feeds",
            .list(
                of: .object([
                    .required("name", .string(minLength: 1), "As in `/feeds/{name}`."),
                    .required("path", .string(format: "uri-reference"), "Its path on this service."),
                    .required("href", .href, "The href of its first page."),
                    .required("title", .string.orNull, "A text for people; null where configuration has none."),
                    .required(
                        "layouts", .list(of: .words(CellLayout.self), isUnique: true), "The layouts that something in it has cells for."),
                    .required(
                        "sections",
                        .list(
                            of: .object([
                                .required("name", .string(minLength: 1)),
                                .required("title", .string.orNull, "The text of its header; null where it has none."),
                                .required("path", .string(format: "uri-reference")),
                                .required("href", .href, "The href of the first page of the section alone."),
                            ])), "In order; none where the feed has no sections."),
                ])))
    ]).described("The feeds that there are.").named("Feeds")
    private static let identifier = Schema.string(minLength: 1).described(
        """
        The reuse identifier under which a client registers a cell class. The list is open: for one that it does not know, a client shows a \
        placeholder of the cell's size, and the feed goes on. What cells of one identifier bind stands in `/schemas/cells/{identifier}.json`.
        """
    ).examples(
        #""UserSnapshotCollectionViewCell""#, #""CircularUserCollectionViewCell""#, #""AdvertisementCollectionViewCell""#,
        #""AdvertisementVideoCollectionViewCell""#, #""AdvertisementAudioCollectionViewCell""#,
        #""SectionHeaderCollectionReusableView""#, #""UserTableViewCell""#, #""CircularUserTableViewCell""#,
        #""AdvertisementTableViewCell""#, #""SectionHeaderTableViewHeaderFooterView""#
    ).named("Identifier")
    private static let size = Schema.object([
        .required("width", .number(above: 0)),
        .required("height", .number(above: 0)),
    ]).described("A cell's size in points.").examples(#"{"width": 300, "height": 200}"#).named("Size")
    private static let playback = CommandKey.playback.map { slot in
        Schema.Property.optional(
            slot.rawValue, .action, "Of a cell that plays something: how far it was played, or that it was muted or skipped.")
    }
    private static let cellActions = Schema.object(
        [
            .optional("configuration", .action, "Fills the cell with its content. The client performs it."),
            .optional(
                "cancellation", .action,
                "Stops what filling the cell began. Performed when the cell leaves the viewport before its images came."),
            .optional("selection", .action, "The cell was chosen."),
            .optional("deselection", .action, "The choice was taken back."),
            .optional("dismissal", .action, "Hides the cell from one viewer's feed. Only there for requests that name a viewer."),
            .optional(
                "impression", .action,
                "The cell was seen: the share of it that `viewable` says, for so long; without, half of it for a second."),
        ]
            + playback, others: Schema.action.described("A slot that the kind of cell adds, performed at `POST /cells/{id}/{slot}`.")
    ).described("What can be done with a cell, by slot. A missing slot means that there is nothing to do.").named("Actions")
    /// The fallback has the last name in alphabetical order, because code generators try the alternatives in that order.
    private static let action = Schema.choice([.bindAction, .linkAction, .requestAction, .unknownAction]).described(
        """
        What a client does for a slot, by `type`. The list of types is open: one that a client does not know is nothing to do, and \
        `UnknownAction` here.
        """
    ).named("Action")
    private static let unknownAction = Schema.object([
        .required("type", Schema.string(minLength: 1).with("not", .object([.init("enum", .texts(["bind", "request", "link"]))])))
    ]).described("An action of a type that is not described here: nothing to do.").named("UnknownAction")
    private static let bindAction = Schema.object([
        .required("type", .word("bind")),
        .required(
            "bindings", .map(of: .binding),
            """
            A value for each part. A snapshot cell has `username`, `avatar` and, where there is one, `background`; a circular cell `username` and \
            `avatar`; an advertisement `content` or, where it is played, `media` with `poster`, `mediaType` \
            and `duration` (seconds), as far as they are known.
            """),
    ]).described("Fill the named parts of the cell.").named("BindAction")
    /// The fallback has the last name in alphabetical order, because code generators try the alternatives in that order.
    private static let binding = Schema.choice([
        .textBinding, .imageBinding, .dateBinding, .numberBinding, .linkBinding, .mediaBinding, .disclosureBinding, .unknownBinding,
    ]).described(
        """
        A value for one part of a cell, by `type`. The types are those of `Accept-Cells`. The list is open: a client shows nothing for a type \
        that it does not know, which is `UnknownBinding` here.
        """
    ).examples(
        #"{"type": "text", "text": "Tongue Twister"}"#,
        #"{"type": "image", "href": "/images/…/150x150@2x", "width": 150, "height": 150, "scales": [1, 2, 3]}"#,
        #"{"type": "date", "date": "2026-05-01T19:00:00Z"}"#, #"{"type": "number", "number": 12.5}"#,
        #"{"type": "link", "href": "https://sign.example.com/1"}"#
    ).named("Binding")
    private static let bindingTypes = ["text", "image", "date", "number", "link", "media", "disclosure"]
    private static let unknownBinding = Schema.object([
        .required("type", Schema.string(minLength: 1).with("not", .object([.init("enum", .texts(bindingTypes))])))
    ]).described("A binding of a type that is not described here. A client shows nothing for it.").named("UnknownBinding")
    private static let textBinding = Schema.object([.required("type", .word("text")), .required("text", .string)])
        .described("A text, which the client shows unchanged.").named("TextBinding")
    private static let imageBinding = Schema.object([
        .required("type", .word("image")),
        .required(
            "href", .href,
            """
            The href of the image, below the image proxy. If the binding has `width`, the image has the size of the part, at the `scale` of the \
            page; otherwise it is the original.
            """),
        .optional("width", .integer(minimum: 1), "The width of the box that shows the image, in points. It comes with `height`."),
        .optional("height", .integer(minimum: 1), "The height of the box, in points."),
        .optional(
            "scales", .list(of: .integer(minimum: 1, maximum: 3)),
            """
            The available scales of the image. The href ends with `@2x` or `@3x` for these scales, and with neither for the first. A client \
            replaces this ending to request another scale. The signature stays valid.
            """),
        .optional(
            "placeholder", .string(pattern: "^[A-Za-z0-9+/]+={0,2}$"),
            "A blurred preview: a ThumbHash in base64, at most 40 bytes. It is known after the image was fetched once."),
        .optional(
            "color", .string(pattern: "^#[0-9a-f]{6}$"), "The dominant color of the image. It is known after the image was fetched once."),
        .optional(
            "original", .object([.required("width", .integer(minimum: 1)), .required("height", .integer(minimum: 1))]),
            "The size of the original, in pixels. It is known after the image was fetched once."),
        .optional("alt", .string, "The alternative text of the image; empty if the image is decorative."),
    ]).named("ImageBinding")
    private static let dateBinding = Schema.object([
        .required("type", .word("date")), .required("date", .string(pattern: Timestamp.pattern)),
    ]).described("A date, or a date with time and offset (RFC 3339). The client formats it for the language and region of the viewer.")
        .named("DateBinding")
    private static let numberBinding = Schema.object([.required("type", .word("number")), .required("number", .number)])
        .described("A number. The client formats it for the language of the viewer.").named("NumberBinding")
    private static let linkBinding = Schema.object([.required("type", .word("link")), .required("href", .href)])
        .described("The absolute URL that a part of the cell links to.").named("LinkBinding")
    private static let mediaBinding = Schema.object([.required("type", .word("media")), .required("href", .href)])
        .described("The absolute URL of the media that a part of the cell plays.").named("MediaBinding")
    private static let disclosureBinding = Schema.object([
        .required("type", .word("disclosure")), .required("label", .string), .required("advertiser", .string),
    ]).described("The disclosure of an ad: the label that the client shows with it, and the advertiser. The part is called `disclosure`.")
        .named("DisclosureBinding")
    private static let requestAction = Schema.object([
        .required("type", .word("request")),
        .required("method", Schema.string(pattern: "^[A-Z]+$").examples(#""POST""#, #""DELETE""#)),
        .required(
            "href", .string(minLength: 1),
            "A relative reference, or absolute where the service has a public URL. Where `templated`, a URI template (RFC 6570)."),
        .optional(
            "templated", .boolean, "Whether the client fills variables in: `{request}` is the `X-Request-ID` of an image's request."),
        .optional("body", .any, "The JSON body of the request, sent unchanged."),
        .optional(
            "input", .object([]),
            """
            A JSON Schema (2020-12): what the body has to be, a JSON object that the client makes. Without it, the request has no body but \
            `body`.
            """),
        .optional("label", .string(minLength: 1), "The label that people see, in the language of the request."),
        .optional(
            "viewable",
            .object([
                .required("share", .number(above: 0), "Of the cell's points, at most 1."),
                .required("seconds", .number(minimum: 0), "Without a break; of what is played, while it plays."),
            ]), "When the request is to be sent: once so much of the cell was seen for so long."),
    ]).described("Send a request.").named("RequestAction")
    private static let linkAction = Schema.object([
        .required("type", .word("link")),
        .required("href", .href),
        .optional("label", .string(minLength: 1), "The label that people see, in the language of the request."),
    ]).described("Open a link.").named("LinkAction")
}
