internal import CPostgreSQL
internal import IntertwineFeed
package import IntertwineStorageCore

/// The result rows of a statement in PostgreSQL's binary format.
/// The type is not `Sendable`: the rows stay with the caller of the statement.
package final class PostgresRows {
    private let result: OpaquePointer
    package let count: Int

    init(_ result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
    }

    deinit {
        PQclear(result)
    }

    package var isEmpty: Bool { count == 0 }

    func forEach(_ body: (PostgresRow) throws -> Void) rethrows {
        for number in 0..<count { try body(PostgresRow(rows: self, number: number)) }
    }

    var affected: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

    package func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(result, Int32(row), Int32(column)) == 1 }

    package func view(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        let length = Int(PQgetlength(result, Int32(row), Int32(column)))
        return UnsafeRawBufferPointer(start: PQgetvalue(result, Int32(row), Int32(column)), count: length)
    }

    package func bytes(_ row: Int, _ column: Int) -> [UInt8] { Array(view(row, column)) }

    package func text(_ row: Int, _ column: Int) -> String {
        String(decoding: view(row, column), as: UTF8.self)
    }

    package func optionalText(_ row: Int, _ column: Int) -> String? { isNull(row, column) ? nil : text(row, column) }

    package func integer(_ row: Int, _ column: Int) -> Int64 {
        let view = view(row, column)
        return switch view.count {
        case 8: Int64(bigEndian: view.loadUnaligned(as: Int64.self))
        case 4: Int64(Int32(bigEndian: view.loadUnaligned(as: Int32.self)))
        case 2: Int64(Int16(bigEndian: view.loadUnaligned(as: Int16.self)))
        default: 0
        }
    }

    package func optionalInteger(_ row: Int, _ column: Int) -> Int64? { isNull(row, column) ? nil : integer(row, column) }

    package func number(_ row: Int, _ column: Int) -> Double {
        let view = view(row, column)
        return view.count == 8 ? Double(bitPattern: UInt64(bigEndian: view.loadUnaligned(as: UInt64.self))) : 0
    }

    package func flag(_ row: Int, _ column: Int) -> Bool { view(row, column).first == 1 }
}

package struct PostgresRow: SQLRow {
    fileprivate let rows: PostgresRows
    fileprivate let number: Int

    package func isNull(_ column: Int) -> Bool { rows.isNull(number, column) }
    package func integer(_ column: Int) -> Int64 { rows.integer(number, column) }
    package func number(_ column: Int) -> Double { rows.number(number, column) }
    package func flag(_ column: Int) -> Bool { rows.flag(number, column) }
    package func text(_ column: Int) -> String { rows.text(number, column) }
    package func bytes(_ column: Int) -> [UInt8] { rows.bytes(number, column) }
    package func view(_ column: Int) -> UnsafeRawBufferPointer { rows.view(number, column) }
}

extension PostgresConnection: SQLSession {
    package static var dialect: SQLDialect { .postgres }

    @discardableResult
    package func run(_ commands: [SQLCommand], _ read: (_ command: Int, _ row: PostgresRow) throws -> Void) throws -> [Int] {
        let results: [PostgresRows] = try run(commands)
        for (index, rows) in results.enumerated() { try rows.forEach { try read(index, $0) } }
        return results.map(\.affected)
    }
}
