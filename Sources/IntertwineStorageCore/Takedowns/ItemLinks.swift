internal import Foundation
internal import IntertwineFeed

/// The links of items that are taken down, which their takedowns store as a JSON array.
package enum ItemLinks {
    package static let takedownLimit = 100_000

    package static func targets(_ list: String) -> [String] {
        (try? JSONDecoder().decode([String].self, from: Data(list.utf8))) ?? []
    }

    package static func urls(_ list: String) -> [String] { targets(list).filter(BlockedItem.isURL) }

    package static func list(_ targets: [String]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(targets), as: UTF8.self)
    }
}
