internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

extension Schema {
    static let page = Schema.object([
        .required(
            "cells", .list(of: .cell),
            """
            The cells of at most `page.limit` content items, the ads of the page, and the headers of the sections that begin on it. Each \
            `id` is unique on the page.
            """),
        .required("page", .paging),
    ]).described("One page of cells, in display order.").examples(
        #"""
        {"cells": [{"id": "ad:1", "identifier": "AdvertisementCollectionViewCell", "advertisement": true, "size": {"width": 220, "height": 220},
        "actions": {"configuration": {"type": "bind", "bindings": {"content": {"type": "image", "href":
        "/images/AXuJAAecogdxsOhe8SjHHrGI3Gabd5Y/aHR0cHM6Ly9hZHMuZXhhbXBsZS5jb20vMS5wbmc"}, "disclosure": {"type": "disclosure", "label":
        "Advertisement", "advertiser": "ACME"}}}, "cancellation": {"type":
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
            "The version of the protocol; clients accept newer ones (Documentation/reference/protocol.md)."),
        .required("limit", .integer(minimum: 1, maximum: 100), "The maximum number of content items on the page."),
        .required(
            "next", .string(format: "uri-reference").orNull,
            "The href of the next page; null on the last page. Clients follow it unchanged."),
        .required(
            "previous", .string(format: "uri-reference").orNull,
            "The href of the previous page; null on the first page. Clients follow it unchanged."),
        .optional(
            "sections", Schema.list(of: .string(minLength: 1), isUnique: true).examples(#"["events", "main"]"#),
            "The names of the sections on the page, in order. Present only in feeds with sections."),
        .optional(
            "syncToken", .string(pattern: "^[A-Za-z0-9_-]+$"),
            """
            The opaque token for requests of the page's changes; about 600 characters for a page of 20. Present only with `changes=true`. Absent if \
            the page has long ids and the token would exceed 6,144 characters.
            """),
        .optional(
            "degraded", .boolean,
            "True if the ranker of the feed failed: the page has the viewer's last ranking, or the feed's own order. Absent otherwise."),
        .optional(
            "omitted",
            .list(
                of: .object([
                    .required("kind", .string(minLength: 1), "The kind of item."),
                    .required("count", .count, "The number of omitted items."),
                    .required("reason", .string, "`unknown-cell`: the client supports none of the cells. The list is open."),
                    .optional("identifiers", .list(of: .string), "The identifiers of the omitted cells."),
                ])), "The items without a cell that the client supports. Present only if the client declares its cells."),
    ]).described("The position of the page in its list.").named("Paging")
    static let cell = Schema.object([
        .required(
            "id", .string(minLength: 1, format: "cell-id"),
            """
            The id of the cell, unique in a response and stable across requests: `user:` or `ad:` and the id of the item, or `section:` \
            and the name of the section. Clients treat it as opaque.
            """),
        .required("identifier", .identifier),
        .optional("version", .integer(minimum: 1), "The version of the cell's bindings; 1 if absent."),
        .optional(
            "advertisement", .boolean,
            "True for every cell of an ad, including its companions. Clients show its `disclosure`. The prefix of the id is the name of a kind."
        ),
        .optional(
            "primary", .string(minLength: 1, format: "cell-id"),
            """
            The id of the first cell of the item, if this is another cell of it: a companion, or a repetition of an ad. Clients hide it together with that \
            cell.
            """),
        .required("size", .size),
        .required("actions", .cellActions),
        .optional(
            "reason", .string(minLength: 1),
            "Why the ranker or the data source of the feed chose the item, as a text for the viewer. Present only if there is a reason."),
        .optional("state", .cellState),
    ]).titled("Cell view model").described(
        """
        The view model of a cell: the display of one item, and its actions. Members may be added; clients ignore unknown members.
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
        {"id": "ad:1", "identifier": "AdvertisementCollectionViewCell", "advertisement": true, "size": {"width": 220, "height": 220}, "actions": {
        "configuration": {"type": "bind", "bindings": {"content": {"type": "image", "href":
        "/images/AXuJAAecogdxsOhe8SjHHrGI3Gabd5Y/aHR0cHM6Ly9hZHMuZXhhbXBsZS5jb20vMS5wbmc"}, "disclosure": {"type": "disclosure", "label":
        "Advertisement", "advertiser": "ACME"}}}, "cancellation": {"type":
        "request", "method": "DELETE", "href": "/images/requests/{request}", "templated": true}, "selection": {"type":
        "link", "href": "/click/kWaFAAEAB5v5AABhZDoxewYoes4OQtjDmmoYLaAlRQ"}, "impression": {"type": "request", "method":
        "POST", "href": "/events", "body": {"events": [{"type": "impression", "cell": "ad:1", "token":
        "kWaFAAEAB5v5AABhZDoxhf68C_gOsrJndt62ynrVzA"}]}}}}
        """#
    ).named("ViewModel")
    private static let cellState = Schema.object([
        .optional("saved", .boolean, "True if the viewer has saved the cell."),
        .optional("selected", .boolean, "True if the viewer has selected the cell, and has not deselected it since."),
    ]).with("additionalProperties", Schema.boolean.value).described(
        "The state of the cell for the viewer. Further members are lists that kinds declare, such as `liked`. Absent without a viewer, or if the viewer performed no action on the cell."
    )
    .examples(
        #"{"saved": true}"#
    ).named("CellState")
    static let feeds = Schema.object([
        .required(
            "feeds",
            .list(
                of: .object([
                    .required("name", .string(minLength: 1), "The name of the feed, as in `/feeds/{name}`."),
                    .required("path", .string(format: "uri-reference"), "The path of the feed on this service."),
                    .required("href", .href, "The href of the first page of the feed."),
                    .required("title", .string.orNull, "The title that people see; null if the configuration has none."),
                    .required(
                        "layouts", .list(of: .words(CellLayout.self), isUnique: true),
                        "The layouts for which an item of the feed has a cell."),
                    .required(
                        "sections",
                        .list(
                            of: .object([
                                .required("name", .string(minLength: 1)),
                                .required("title", .string.orNull, "The text of the section's header; null without a header."),
                                .required("path", .string(format: "uri-reference")),
                                .required("href", .href, "The href of the first page of the section alone."),
                            ])), "The sections, in order. The list is empty for feeds without sections."),
                    .optional(
                        "filters",
                        .list(
                            of: .object([
                                .required(
                                    "name", .string(minLength: 1), "The name of the field, which is the query parameter of its values."),
                                .optional("title", .string, "The label of the field, as people read it."),
                                .required("type", .words(ItemFilter.Form.self), "The type of the values."),
                                .required(
                                    "values",
                                    .list(
                                        of: .object([
                                            .required("value", .string(minLength: 1)),
                                            .optional("title", .string, "The label of the choice, as people read it."),
                                            .required("count", .integer(minimum: 0), "The number of items with this value."),
                                        ])),
                                    "All values of a choice or a flag; the 100 most frequent values of another type."),
                            ])),
                        "The filters of the feed, such as `?category=music&category=art&city=Berlin`: the values of one field are alternatives, and fields combine."
                    ),
                ])))
    ]).described("The feeds of the service.").named("Feeds")
    private static let identifier = Schema.string(minLength: 1).described(
        """
        The reuse identifier for which a client registers a cell class. The list is open: for an unknown identifier, a client shows a \
        placeholder of the cell's size. The schema `/schemas/cells/{identifier}.json` has the bindings of an identifier.
        """
    ).examples(
        #""UserSnapshotCollectionViewCell""#, #""CircularUserCollectionViewCell""#, #""AdvertisementCollectionViewCell""#,
        #""AdvertisementVideoCollectionViewCell""#, #""AdvertisementAudioCollectionViewCell""#,
        #""SectionHeaderCollectionReusableView""#, #""UserTableViewCell""#, #""CircularUserTableViewCell""#,
        #""AdvertisementTableViewCell""#, #""SectionHeaderTableViewHeaderFooterView""#
    ).named("Identifier")
    private static let size = Schema.object([
        .required("width", .number(above: 0)),
        .required("height", .number(above: 0), "The height at text scale 1."),
        .optional(
            "textHeight", .number(above: 0),
            """
            The part of `height` that lines of text take; 0 if absent. At text scale `s`, the client shows the cell \
            `height + textHeight × (s − 1)` points high. The service does not receive the scale.
            """),
    ]).described("The size of a cell, in points.").examples(#"{"width": 300, "height": 200, "textHeight": 24}"#).named("Size")
    private static let playback = CommandKey.playback.map { slot in
        Schema.Property.optional(
            slot.rawValue, .action, "A playback event of a media cell: its progress, or that the viewer muted or skipped it.")
    }
    private static let cellActions = Schema.object(
        [
            .optional("configuration", .action, "Fills the cell with its content. The client performs it."),
            .optional(
                "cancellation", .action,
                "Cancels the image requests of the cell. The client performs it if the cell leaves the viewport before they are complete."),
            .optional("selection", .action, "Selects the cell."),
            .optional("deselection", .action, "Deselects the cell."),
            .optional("dismissal", .action, "Hides the cell from the viewer's feed. Absent in responses to requests without a viewer."),
            .optional(
                "impression", .action,
                "Reports a viewable impression, as defined by `viewable`. Without `viewable`, half of the cell is visible for one second."),
        ]
            + playback, others: Schema.action.described("A slot that the kind of cell adds, performed at `POST /cells/{id}/{slot}`.")
    ).described("The actions of a cell, by slot. A slot without an action is absent.").named("Actions")
    /// The fallback has the last name in alphabetical order, because code generators try the alternatives in that order.
    private static let action = Schema.choice([.bindAction, .linkAction, .requestAction, .unknownAction]).described(
        """
        The action of a slot, by `type`. The list of types is open: a client ignores an unknown type, which is `UnknownAction` here.
        """
    ).named("Action")
    private static let unknownAction = Schema.object([
        .required("type", Schema.string(minLength: 1).with("not", .object([.init("enum", .texts(["bind", "request", "link"]))])))
    ]).described("An action of a type outside this description. A client ignores it.").named("UnknownAction")
    private static let bindAction = Schema.object([
        .required("type", .word("bind")),
        .required(
            "bindings", .map(of: .binding),
            """
            The value of each part. A snapshot cell has `username`, `avatar` and optionally `background`; a circular cell has `username` \
            and `avatar`. An ad has `content`. A media ad has `media`, and optionally `poster`, `mediaType` and `duration` (seconds).
            """),
    ]).described("Fills the named parts of the cell.").named("BindAction")
    /// The fallback has the last name in alphabetical order, because code generators try the alternatives in that order.
    private static let binding = Schema.choice([
        .textBinding, .imageBinding, .dateBinding, .numberBinding, .linkBinding, .mediaBinding, .disclosureBinding, .unknownBinding,
    ]).described(
        """
        The value of one part of a cell, by `type`. The types are those of `Accept-Cells`. The list is open: a client shows nothing for \
        an unknown type, which is `UnknownBinding` here.
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
    ]).described("A binding of a type outside this description. A client shows nothing for it.").named("UnknownBinding")
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
            "A blurred preview: a ThumbHash in base64, at most 40 bytes. Absent until the image was fetched once."),
        .optional(
            "color", .string(pattern: "^#[0-9a-f]{6}$"), "The dominant color of the image. Absent until the image was fetched once."),
        .optional(
            "original", .object([.required("width", .integer(minimum: 1)), .required("height", .integer(minimum: 1))]),
            "The size of the original, in pixels. Absent until the image was fetched once."),
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
    ]).described(
        "The disclosure that every cell of an ad has: the label that the client shows, and the advertiser; empty if unknown. The part is `disclosure`."
    )
    .named("DisclosureBinding")
    private static let requestAction = Schema.object([
        .required("type", .word("request")),
        .required("method", Schema.string(pattern: "^[A-Z]+$").examples(#""POST""#, #""DELETE""#)),
        .required(
            "href", .string(minLength: 1),
            "A relative reference; absolute if the service has a public URL. A URI template (RFC 6570) if `templated` is true."),
        .optional(
            "templated", .boolean, "True if the client expands variables in `href`. `{request}` is the `X-Request-ID` of an image request."),
        .optional("body", .any, "The JSON body of the request, sent unchanged."),
        .optional(
            "input", .object([]),
            """
            The JSON Schema (2020-12) of the body, a JSON object that the client creates. Without `input`, the client sends `body` \
            unchanged, or no body.
            """),
        .optional("label", .string(minLength: 1), "The label that people see, in the language of the request."),
        .optional(
            "viewable",
            .object([
                .required("share", .number(above: 0), "The visible share of the cell's area, at most 1."),
                .required("seconds", .number(minimum: 0), "The uninterrupted time; for media, during playback."),
            ]), "The condition for the request: this share of the cell was visible for this time."),
    ]).described("Sends a request.").named("RequestAction")
    private static let linkAction = Schema.object([
        .required("type", .word("link")),
        .required("href", .href),
        .optional("label", .string(minLength: 1), "The label that people see, in the language of the request."),
    ]).described("Opens a link.").named("LinkAction")
}
