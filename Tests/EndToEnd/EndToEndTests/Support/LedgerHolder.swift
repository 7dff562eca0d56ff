import Foundation

/// Another program that holds a lock on the ledger of a service: in which nobody else writes, and nobody reads unless readers may.
final class LedgerHolder {
    private let holder = Process()
    private let (input, output) = (Pipe(), Pipe())

    init(_ service: RunningService, excludesReaders: Bool = true) throws {
        let isFile = service.database.hasSuffix(".sqlite")
        holder.executableURL = URL(fileURLWithPath: isFile ? "/usr/bin/sqlite3" : "/usr/bin/psql")
        holder.arguments =
            isFile ? [service.database.replacing(".sqlite", with: ".ledger.sqlite")] : ["-X", "-q", "-A", "-t", service.database]
        (holder.standardInput, holder.standardOutput) = (input, output)
        try holder.run()
        let lock =
            excludesReaders
            ? "event, ledger_writer IN ACCESS EXCLUSIVE MODE"
            : "event, allowance, recent_allowance, client, delivery, exposure, idempotency, listing, selection IN EXCLUSIVE MODE"
        // Readers of a file never wait.
        let script = isFile ? ".timeout 5000\nBEGIN EXCLUSIVE;" : "BEGIN; LOCK TABLE \(lock);"
        try input.fileHandleForWriting.write(contentsOf: Data("\(script) SELECT 'held';\n".utf8))
        guard try output.fileHandleForReading.read(upToCount: 4) == Data("held".utf8) else { throw CocoaError(.fileLocking) }
    }

    func letGo() throws {
        try input.fileHandleForWriting.close()
        holder.waitUntilExit()
    }
}
