internal import Foundation
package import IntertwineItems

/// One of the two databases that a copy goes from and to. Its calls block.
package protocol CopyEndpoint: AnyObject {
    /// The name for messages, without secrets.
    var shown: String { get }

    /// Names it, however it is reached.
    var identity: String { get }

    /// Returns the rows after a key, in key order.
    func rows(of table: TableSchema, after key: [TableValue]?, limit: Int) throws -> [[TableValue]]

    /// Returns the progress of a copy into this database; nil if no copy was begun.
    func progress() throws -> CopyProgress?

    /// Records that a copy begins or resumes.
    func begin(_ progress: CopyProgress) throws

    /// Puts rows there, and notes how far the copy has come: both, or nothing.
    func append(_ rows: [[TableValue]], to table: TableSchema, _ progress: CopyProgress) throws

    /// Removes the rows of tables, and notes how far the copy has come then.
    func clear(_ tables: [TableSchema], _ progress: CopyProgress) throws

    /// The marker of the last event that there has ever been.
    func lastMarker() throws -> Int64

    /// Completes the copy: new rows get numbers after the copied ones.
    func finish(lastMarker: Int64) throws

    /// Leaves it to others. Nothing else is called from then on.
    func close()
}

extension CopyEndpoint {
    /// Returns true if the database is empty.
    func isEmpty() throws -> Bool {
        try TableSchema.copied.allSatisfy { try $0.isFilled || rows(of: $0, after: nil, limit: 1).isEmpty }
    }
}

/// The progress of a copy, as stored in its destination.
package struct CopyProgress: Codable {
    /// The source of the copy.
    package var source: String
    /// By table, the key of the last row that is there; as the source has it.
    package var last: [String: [TableValue]] = [:]

    package init(source: String) {
        self.source = source
    }

    package init(_ text: String) throws(StoreError) {
        do {
            self = try JSONDecoder().decode(CopyProgress.self, from: Data(text.utf8))
        } catch {
            throw .unusable("intertwine_copy: cannot be read: \(error)")
        }
    }

    package var text: String { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "" }
}

/// A value of a column in a row.
package enum TableValue: Sendable, Hashable, Codable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}
