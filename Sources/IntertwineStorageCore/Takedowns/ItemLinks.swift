internal import Foundation
internal import IntertwineFeed

package enum ItemLinks {
    package static let takedownLimit = 100_000

    package static func targets(_ list: String) -> [String] {
        (try? JSONDecoder().decode([String].self, from: Data(list.utf8))) ?? []
    }

    package static func urls(_ list: String) -> [String] { targets(list).filter(BlockedItem.isURL) }

    static func urls(inBody body: UnsafeRawBufferPointer) -> [String] {
        var urls: [String] = []
        var start = body.startIndex
        while let quote = body[start...].firstIndex(of: UInt8(ascii: "\"")) {
            start = quote + 1
            guard body[start...].starts(with: "http".utf8), let end = body[start...].firstIndex(of: UInt8(ascii: "\"")) else { continue }
            urls.append(String(decoding: body[start..<end], as: UTF8.self))
            start = end + 1
        }
        return urls
    }

    package static func list(_ targets: [String]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(targets), as: UTF8.self)
    }
}
