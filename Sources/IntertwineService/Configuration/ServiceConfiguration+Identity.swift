internal import IntertwineFeed
internal import IntertwinePrimitives
internal import IntertwineStorage

extension ServiceConfiguration {
    func storeFiles() throws -> (files: StoreFiles, faults: [String])? {
        guard try store.sharedDatabase() == nil else { return nil }
        let files = StoreFiles(items: store.database, ledger: store.ledgerDatabase)
        let keyFile = SigningKeyFile(path: store.path(of: "signing.key"))
        let key = signing.key.isEmpty ? StoreFiles.Key(path: keyFile.path, name: try keyFile.read()?.name) : nil
        let faults = try files.faults(key: key, auditLog: auditLog)
        guard faults.isEmpty || store.acceptsDataLoss else { throw Self.refusal(faults) }
        return (files, faults)
    }

    func checkStoreFiles() throws(StoreError) {
        let faults: [String]
        do {
            faults = try StoreFiles(items: store.database, ledger: store.ledgerDatabase).faults()
        } catch {
            throw error as? StoreError ?? .unusable("\(store.database): \(error)")
        }
        if !faults.isEmpty { throw Self.refusal(faults) }
    }

    private static func refusal(_ faults: [String]) -> StoreError {
        .unusable(
            "\(faults.joined(separator: "; ")): restore all files of one backup, or start once with --accept-data-loss to continue with "
                + "the existing files")
    }
}

extension SigningKey {
    var name: String { String(id, radix: 16) }
}
