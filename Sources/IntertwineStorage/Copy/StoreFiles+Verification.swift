import Foundation
import GRDB
import IntertwineItems

extension StoreFiles {
    /// Verifies the files completely: whether they belong together, their schema version, their structure and the digests of their rows.
    ///
    /// - Parameters:
    ///   - key: the signing key beside the files.
    ///   - onProgress: receives the name of each file before it is read.
    /// - Returns: one line for each finding.
    package func findings(key: Key, onProgress: (_ file: String) -> Void) -> [String] {
        var findings: [String] = []
        do {
            findings = try faults(key: key, isReadOnly: true)
        } catch {
            findings.append("\(error)")
        }
        for file in [ItemSchema.file(items), LedgerSchema.file(ledger)] where FileManager.default.fileExists(atPath: file.path) {
            guard (try? file.isEmpty()) != true else {
                findings.append("\(file.path): is empty")
                continue
            }
            onProgress((file.path as NSString).lastPathComponent)
            let rows = file.path == items ? SQLiteStore.checkRows : SQLiteLedger.checkRows
            let start: [Int64] = file.path == items ? [.min, .min] : [0]
            do {
                let isCurrent = try file.isUpToDate()
                try ReadConnections(file.path, busyTimeout: 5, pragmas: "PRAGMA cache_size = -65536").read { connection in
                    findings += try Self.structuralFaults(connection).map { "\(file.path): \($0)" }
                    // An earlier version has other columns. The next start adds their digests.
                    guard isCurrent, let damage = try Self.damage(connection, from: start, rows) else { return }
                    findings.append("\(file.path): \(damage)")
                }
            } catch {
                let line = "\(file.failure(error))"
                if !findings.contains(line) { findings.append(line) }
            }
        }
        return findings
    }

    private static func structuralFaults(_ connection: any SQLConnection) throws -> [String] {
        let check = try SQLStatement(connection, "PRAGMA integrity_check(100)")
        defer { check.reset() }
        var faults: [String] = []
        while try check.step() {
            faults += check.text(0).split(separator: "\n").map(String.init).filter { $0 != "ok" && !$0.hasPrefix("***") }
        }
        return faults
    }

    /// Returns the first row that does not match its digest, or that an index lacks.
    private static func damage(
        _ connection: any SQLConnection, from start: [Int64],
        _ rows: (any SQLConnection, [Int64]) throws -> RowsChecked<Int64>
    ) throws -> String? {
        if let damage = try damage(from: start, { try rows(connection, $0) }) { return damage }
        for name in try TableCheck.names(connection) {
            let table = try TableCheck(name, connection)
            if let damage = try damage(from: [], { try table.check(after: $0, connection) }) { return damage }
        }
        return nil
    }

    private static func damage<Value>(
        from start: [Value], _ check: (_ key: [Value]) throws -> RowsChecked<Value>
    ) throws -> String? {
        var key = start
        while true {
            let checked = try check(key)
            guard checked.damage == nil, let next = checked.next else { return checked.damage }
            key = next
        }
    }
}
