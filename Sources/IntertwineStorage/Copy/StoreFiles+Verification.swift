import Foundation
import GRDB
import IntertwineFeed

extension StoreFiles {
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
            do {
                _ = try file.isUpToDate()
                let connection = try ReadConnection(file.path, busyTimeout: 5, pragmas: "PRAGMA cache_size = -65536")
                findings += try ServedFile.findings(connection).map { "\(file.path): \($0)" }
            } catch {
                let line = "\(file.failure(error))"
                if !findings.contains(line) { findings.append(line) }
            }
        }
        return findings
    }
}
