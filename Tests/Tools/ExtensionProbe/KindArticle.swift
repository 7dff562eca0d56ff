// article: KindOfYourOwn
import Foundation
import IntertwineService

/// `{"kind":"card","id":"1","text":"Hello","picture":"https://…","size":"small"}`
struct Card: ItemContent {
    enum Size: String, Codable, CaseIterable {
        case small, large
    }

    static let kind = "card"
    static let fields = [FieldDeclaration("text", .text, maximum: 200)]

    var text: String
    var picture: URL?
    var size: Size

    func validate() throws {
        guard !text.contains("spam") else { throw ItemError(field: "text", reason: "is advertising") }
    }

    func cell(in context: CellContext) -> Cell {
        Cell("CardCell", size: CellSize(width: 300, height: size == .small ? 80 : 200)) {
            Bind("text", text)
            if size == .large { Bind("picture", image: picture) }
        }
    }
}

let cards = {
    var extensions = ServiceExtensions()
    extensions.add(Card.self, actions: .on(.selection, Analytics()).on("bookmark", Save(), label: ["en": "Save", "de": "Merken"]))
    return extensions
}()
// article: end
