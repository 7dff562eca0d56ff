import IntertwineService

/// A recipe: `{"kind":"recipe","id":"ramen","title":"Ramen","pictureUrl":"https://…","type":"quick"}`
struct RecipeKind: ItemKind {
    let name = "recipe"
    let stream = StreamID.content

    static let variants = ["quick", "slow"]

    func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        let id = try fields.text("id", limit: 100)
        let variant = try fields.choice("type", among: Self.variants)
        var body = ItemBody()
        body.append("title", try fields.text("title", limit: 200))
        body.append("pictureUrl", try fields.url("pictureUrl"))
        return ValidatedItem(kind: name, stream: stream, id: String(decoding: id, as: UTF8.self), variant: variant, body: body.finish())
    }
}
