import Foundation
import IntertwineService

/// A recipe: `{"kind":"recipe","id":"ramen","title":"Ramen","pictureUrl":"https://…","type":"quick"}`. The JSON Schema, imports and the admin
/// API follow from the properties.
struct Recipe: ItemContent {
    enum Effort: String, Codable, CaseIterable {
        case quick, slow
    }

    static let kind = "recipe"
    static let fields = [FieldDeclaration("title", .text, maximum: 200)]

    var title: String
    var pictureUrl: URL
    var type: Effort

    func cell(in context: CellContext) -> Cell {
        Cell("RecipeCollectionViewCell", size: CellSize(width: 300, height: 240)) {
            Bind("title", title)
            Bind("image", image: pictureUrl)
        }
    }
}
