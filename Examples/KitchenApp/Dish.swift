import IntertwineService

/// A dish of the menu: its fields and its cell.
struct Dish: ItemContent {
    static let kind = "dish"

    var name: String
    var price: Double

    func cell(in context: CellContext) -> Cell {
        Cell("DishCell", size: CellSize(width: 300, height: 80)) {
            Bind("name", name)
            Bind("price", price)
        }
    }

    static func menu() throws -> [FeedItem] {
        let dishes = [Dish(name: "Soup", price: 4.5), Dish(name: "Stew", price: 9)]
        return try dishes.enumerated().map { try FeedItem($1, id: $1.name.lowercased(), position: Int64($0)) }
    }
}
