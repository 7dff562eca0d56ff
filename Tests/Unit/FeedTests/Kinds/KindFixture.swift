import Foundation

@testable import IntertwineFeed

/// Kinds as in a configuration, and stores that hold their items.
enum KindFixture {
    /// Users as a declared kind with another name.
    static let person = KindDeclaration(
        name: "person", id: "username", variants: ["regular", "featured"],
        fields: [
            FieldDeclaration("username", .text, isRequired: true, maximum: 512), FieldDeclaration("avatarUrl", .image, isRequired: true),
            FieldDeclaration("backgroundUrl", .image),
        ],
        cells: [
            .collection: [
                CellDeclaration(
                    "UserSnapshotCollectionViewCell",
                    size: SizeRule(
                        CellSize(width: 300, height: 200, textHeight: 24), fraction: 0.8, aspectRatio: 1.5, minimum: 150, maximum: 600),
                    conditions: [FieldCondition("type", .anyOf(["regular"]))],
                    bindings: [
                        BindingDeclaration("username", .text, "username"),
                        BindingDeclaration("avatar", .image, "avatarUrl", image: square(0.25)),
                        BindingDeclaration(
                            "background", .image, "backgroundUrl",
                            image: ImageDeclaration(ImageSizing(width: .ofWidth(1), height: .ofHeight(0.72))), alternative: ""),
                    ]),
                CellDeclaration(
                    "CircularUserCollectionViewCell",
                    size: SizeRule(
                        CellSize(width: 300, height: 190, textHeight: 24), fraction: 0.8, aspectRatio: 300 / 190, minimum: 150, maximum: 600
                    ),
                    bindings: [
                        BindingDeclaration("username", .text, "username"),
                        BindingDeclaration("avatar", .image, "avatarUrl", image: square(0.63)),
                    ]),
            ],
            .table: [
                CellDeclaration(
                    "UserTableViewCell", size: .row(height: 100), conditions: [FieldCondition("type", .anyOf(["regular"]))],
                    bindings: [
                        BindingDeclaration("username", .text, "username"),
                        BindingDeclaration("avatar", .image, "avatarUrl", image: square(0.6)),
                        BindingDeclaration(
                            "background", .image, "backgroundUrl", image: ImageDeclaration(.cell), alternative: ""),
                    ]),
                CellDeclaration(
                    "CircularUserTableViewCell", size: .row(height: 80),
                    bindings: [
                        BindingDeclaration("username", .text, "username"),
                        BindingDeclaration("avatar", .image, "avatarUrl", image: square(0.7)),
                    ]),
            ],
        ],
        presentation: PresentationDeclaration(
            screen: "ImageZoom",
            arguments: [BindingDeclaration("username", .text, "username"), BindingDeclaration("image", .image, "avatarUrl")]),
        actions: [
            .cancellation: ["cancel-images"], .selection: ["analytics", "present"], .deselection: ["analytics"],
            .dismissal: ["analytics", "dismiss"],
        ])

    /// A square image with this share of the cell's height.
    private static func square(_ share: Double) -> ImageDeclaration {
        ImageDeclaration(ImageSizing(width: .ofHeight(share), height: .ofHeight(share)), .attention)
    }

    /// An event with an image and a sign-up link.
    static let event = KindDeclaration(
        name: "event",
        fields: [
            FieldDeclaration("title", .text, isRequired: true, minimum: 2, maximum: 80),
            FieldDeclaration("starts", .date, isRequired: true),
            FieldDeclaration("image", .image, isRequired: true), FieldDeclaration("signup", .url, isRequired: true),
            FieldDeclaration("city", .text), FieldDeclaration("price", .number, minimum: 0, maximum: 1000),
            FieldDeclaration("soldOut", .boolean),
        ],
        cells: [
            .collection: [
                CellDeclaration(
                    "EventCollectionViewCell", size: SizeRule(CellSize(width: 300, height: 160)),
                    bindings: [
                        BindingDeclaration("title", .text, "{{title}}{{#city}} in {{.}}{{/city}}{{#soldOut}} (sold out){{/soldOut}}"),
                        BindingDeclaration("starts", .date, "starts"), BindingDeclaration("image", .image, "image"),
                        BindingDeclaration("price", .number, "price"), BindingDeclaration("signup", .link, "signup"),
                        BindingDeclaration("map", .link, "https://maps.example/{{id}}?q={{{city}}}"),
                        BindingDeclaration("note", .text, "{{#city}}{{/city}}"),
                    ])
            ],
            .table: [
                CellDeclaration(
                    "EventTableViewCell", size: .row(height: 64), bindings: [BindingDeclaration("title", .text, "title")])
            ],
        ],
        destination: "signup", actions: [.selection: ["analytics", "clickthrough"]])

    /// An item as import stores it.
    static func item(_ kind: some ItemKind, at position: Int64, _ json: String) throws -> FeedItem {
        let valid = try kind.validate(ItemFields(Array(json.utf8)))
        return FeedItem(kind: valid.kind, id: valid.id, variant: valid.variant, position: position, body: valid.body)
    }

    /// The standard feed with one more kind.
    static func fixture(_ declaration: KindDeclaration, items: [String]) throws -> Fixture {
        var fixture = try Fixture()
        let kind = try DeclaredKind(declaration)
        try fixture.factories.register(kind, commands: fixture.registry)
        for (index, json) in items.enumerated() {
            fixture.store.put(try item(kind, at: Int64(index + 1) * 1000, json), in: declaration.stream)
        }
        return fixture
    }

    static func json(_ page: FeedPage) throws -> [[String: Any]] {
        let object = try JSONSerialization.jsonObject(with: Data(page.json())) as? [String: Any]
        return object?["cells"] as? [[String: Any]] ?? []
    }

    static func bindings(_ cell: [String: Any]) -> [String: [String: Any]] {
        let actions = cell["actions"] as? [String: [String: Any]]
        return actions?["configuration"]?["bindings"] as? [String: [String: Any]] ?? [:]
    }
}
