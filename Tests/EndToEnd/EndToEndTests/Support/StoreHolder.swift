import Foundation

/// Another program that holds a lock on a part of a service's store: nobody else uses the ledger, or nobody else writes the ledger or the items.
final class StoreHolder {
    enum Part { case ledger, ledgerWrites, items }

    private let holder = Process()
    private let (input, output) = (Pipe(), Pipe())

    init(of service: RunningService, holding part: Part) throws {
        let isFile = service.database.hasSuffix(".sqlite")
        holder.executableURL = URL(fileURLWithPath: isFile ? "/usr/bin/sqlite3" : "/usr/bin/psql")
        let file = part == .items ? service.database : service.database.replacing(".sqlite", with: ".ledger.sqlite")
        holder.arguments = isFile ? [file] : ["-X", "-q", "-A", "-t", service.database]
        (holder.standardInput, holder.standardOutput) = (input, output)
        try holder.run()
        let script =
            switch (part, isFile) {
            case (.ledger, true), (.ledgerWrites, true): ".timeout 5000\nBEGIN EXCLUSIVE;"
            case (.ledger, false): "BEGIN; LOCK TABLE event, ledger_writer IN ACCESS EXCLUSIVE MODE;"
            case (.ledgerWrites, false):
                "BEGIN; LOCK TABLE event, allowance, recent_allowance, client, delivery, exposure, idempotency, listing, selection IN EXCLUSIVE MODE;"
            case (.items, true): ".timeout 5000\nBEGIN IMMEDIATE;"
            case (.items, false): "BEGIN; LOCK TABLE item IN EXCLUSIVE MODE;"
            }
        try input.fileHandleForWriting.write(contentsOf: Data("\(script) SELECT 'held';\n".utf8))
        guard try output.fileHandleForReading.read(upToCount: 4) == Data("held".utf8) else { throw CocoaError(.fileLocking) }
    }

    func letGo() throws {
        try input.fileHandleForWriting.close()
        holder.waitUntilExit()
    }
}
