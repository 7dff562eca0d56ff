internal import Foundation
package import IntertwineItems
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

    private func file(of table: TableSchema) -> TableFile {
        switch table.file {
        case .items: items
        case .ledger: ledger
        }
    }

    package func rows(of table: TableSchema, after key: [TableValue]?, limit: Int) throws -> [[TableValue]] {
        try file(of: table).read { try table.rows(after: key, limit: limit, $0) }
    }

    package func progress() throws -> CopyProgress? {
        var progress: CopyProgress?
        for (file, content) in [(items, TableSchema.File.items), (ledger, .ledger)] {
            let text = try file.read { session -> String? in
                guard try session.integer("SELECT 1 FROM sqlite_schema WHERE name = 'intertwine_copy'") != nil else { return nil }
                return try session.first("SELECT progress FROM intertwine_copy") { $0.text(0) }
            }
            guard let text else { continue }
            let known = try CopyProgress(text)
            progress = progress ?? CopyProgress(source: known.source)
            // Each file has its own tables.
            for table in TableSchema.copied where table.file == content { progress?.last[table.name] = known.last[table.name] }
        }
        guard var progress else { return nil }
        // One file can lack the note, if the copy was interrupted between the files. The existing note decides.
        for table in TableSchema.copied where progress.last[table.name] == nil && !table.isFilled {
            progress.last[table.name] = try file(of: table).read { try table.lastKey($0) }
        }
        return progress
    }

    package func begin(_ progress: CopyProgress) throws {
        for file in [ledger, items] {
            try file.write { session in
                try session.write("CREATE TABLE IF NOT EXISTS intertwine_copy (only INTEGER PRIMARY KEY, progress TEXT NOT NULL)")
                try session.write("INSERT OR REPLACE INTO intertwine_copy VALUES (1, ?1)", .text(progress.text))
            }
        }
    }

    package func append(_ rows: [[TableValue]], to table: TableSchema, _ progress: CopyProgress) throws {
        try file(of: table).write { session in
            try session.run([table.insertion(of: rows, .sqlite)]) { _, _ in }
            try session.write("UPDATE intertwine_copy SET progress = ?1", .text(progress.text))
        }
    }

    package func clear(_ tables: [TableSchema], _ progress: CopyProgress) throws {
        for (file, content) in [(items, TableSchema.File.items), (ledger, .ledger)] {
            try file.write { session in
                for table in tables.reversed() where table.file == content { try session.write("DELETE FROM \(table.name)") }
                try session.write("UPDATE intertwine_copy SET progress = ?1", .text(progress.text))
            }
        }
    }

    package func lastMarker() throws -> Int64 {
        try ledger.read { session in
            try session.integer("SELECT max(coalesce((SELECT max(id) FROM event), 0), coalesce((SELECT last FROM event_marker), 0))") ?? 0
        }
    }

    package func finish(lastMarker: Int64) throws {
        try ledger.write { session in
            try session.write("INSERT OR REPLACE INTO event_marker (only, last) VALUES (1, ?1)", .integer(lastMarker))
            try ledger.expectAllowances(session)
            try session.write("DROP TABLE IF EXISTS intertwine_copy")
        }
        try items.write { try $0.write("DROP TABLE IF EXISTS intertwine_copy") }
        for file in [items, ledger] { try file.complete() }
    }

    package func close() {
        for file in [items, ledger] { file.close() }
    }
}
