internal import Foundation
package import IntertwineFeed
package import IntertwineStorageCore

/// Items and ledger in two files.
package final class FileCopyEndpoint: CopyEndpoint {
    package let shown: String
    package let identity: String
    private let items: TableFile
    private let ledger: TableFile

    package init(items path: String, ledger: String) throws(StoreError) {
        shown = path
        identity = URL(fileURLWithPath: path).standardizedFileURL.path
        items = try TableFile(path, .items)
        self.ledger = try TableFile(ledger, .ledger)
    }

    private func file(of table: CopiedTable) -> TableFile {
        switch table.content {
        case .items: items
        case .ledger: ledger
        }
    }

    package func rows(of table: CopiedTable, after key: [TableValue]?, limit: Int) throws -> [[TableValue]] {
        let names = table.key.map(\.name).joined(separator: ", ")
        let placeholders = table.key.map { _ in "?" }.joined(separator: ", ")
        return try file(of: table).rows(
            """
            SELECT \(table.columns.map(\.name).joined(separator: ", ")) FROM \(table.name)
            \(key == nil ? "" : "WHERE (\(names)) > (\(placeholders))") ORDER BY \(names) LIMIT \(limit)
            """, key ?? [], table.columns.map(\.kindInFile))
    }

    package func progress() throws -> CopyProgress? {
        var progress: CopyProgress?
        for (file, content) in [(items, CopiedTable.File.items), (ledger, .ledger)] {
            guard try !file.rows("SELECT 1 FROM sqlite_schema WHERE name = 'intertwine_copy'", [], [.integer]).isEmpty,
                case .text(let text)? = try file.rows("SELECT progress FROM intertwine_copy", [], [.text]).first?.first
            else { continue }
            let known = try CopyProgress(text)
            progress = progress ?? CopyProgress(source: known.source)
            // Each file has its own tables.
            for table in CopiedTable.all where table.content == content { progress?.last[table.name] = known.last[table.name] }
        }
        guard var progress else { return nil }
        // One file can lack the note, if the copy was interrupted between the files. The existing note decides.
        for table in CopiedTable.all where progress.last[table.name] == nil && !table.isFilled {
            progress.last[table.name] = try lastKey(of: table)
        }
        return progress
    }

    private func lastKey(of table: CopiedTable) throws -> [TableValue]? {
        let names = table.key.map(\.name)
        return try file(of: table).rows(
            """
            SELECT \(names.joined(separator: ", ")) FROM \(table.name)
            ORDER BY \(names.map { "\($0) DESC" }.joined(separator: ", ")) LIMIT 1
            """, [], table.key.map(\.kindInFile)
        ).first
    }

    package func begin(_ progress: CopyProgress) throws {
        for file in [ledger, items] {
            try file.write { writer in
                try writer.run("CREATE TABLE IF NOT EXISTS intertwine_copy (only INTEGER PRIMARY KEY, progress TEXT NOT NULL)")
                try writer.run("INSERT OR REPLACE INTO intertwine_copy VALUES (1, ?)", [.text(progress.text)])
            }
        }
    }

    package func append(_ rows: [[TableValue]], to table: CopiedTable, _ progress: CopyProgress) throws {
        try file(of: table).write { writer in
            let names = table.columns.map(\.name).joined(separator: ", ")
            let placeholders = table.columns.map { _ in "?" }.joined(separator: ", ")
            let statement = "INSERT \(table.isFilled ? "OR REPLACE " : "")INTO \(table.name) (\(names)) VALUES (\(placeholders))"
            for row in rows { try writer.run(statement, row) }
            try writer.run("UPDATE intertwine_copy SET progress = ?", [.text(progress.text)])
        }
    }

    package func clear(_ tables: [CopiedTable], _ progress: CopyProgress) throws {
        for (file, content) in [(items, CopiedTable.File.items), (ledger, .ledger)] {
            try file.write { writer in
                for table in tables.reversed() where table.content == content { try writer.run("DELETE FROM \(table.name)") }
                try writer.run("UPDATE intertwine_copy SET progress = ?", [.text(progress.text)])
            }
        }
    }

    package func lastMarker() throws -> Int64 {
        let rows = try ledger.rows(
            "SELECT max(coalesce((SELECT max(id) FROM event), 0), coalesce((SELECT last FROM event_marker), 0))", [], [.integer])
        guard case .integer(let marker)? = rows.first?.first else { return 0 }
        return marker
    }

    package func finish(lastMarker: Int64) throws {
        try ledger.write { writer in
            try writer.run("INSERT OR REPLACE INTO event_marker (only, last) VALUES (1, ?)", [.integer(lastMarker)])
            try writer.expectAllowances()
            try writer.run("DROP TABLE IF EXISTS intertwine_copy")
        }
        try items.write { try $0.run("DROP TABLE IF EXISTS intertwine_copy") }
        for file in [items, ledger] { try file.complete() }
    }

    package func close() {
        for file in [items, ledger] { file.close() }
    }
}
