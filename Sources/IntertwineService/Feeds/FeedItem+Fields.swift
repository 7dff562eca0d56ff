internal import Foundation
public import IntertwineFeed

extension FeedItem {
    /// Creates an item whose fields are the members of a value.
    ///
    /// ```swift
    /// let item = try FeedItem(kind: "card", id: "1", fields: ["text": "Hello"])
    /// String(decoding: item.body, as: UTF8.self)  // {"text":"Hello"}
    /// ```
    ///
    /// - Parameters:
    ///   - variant: The variant, by which the cell factory is selected together with the kind.
    ///   - position: The position among the items of its data source.
    ///   - fields: A value that is encoded as a JSON object. Equal values must be encoded equally.
    /// - Throws: The error of the value's encoding.
    public init(kind: String, id: String, variant: String = "", position: Int64 = 0, fields: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.init(kind: kind, id: id, variant: variant, position: position, body: Array(try encoder.encode(fields)))
    }
}
