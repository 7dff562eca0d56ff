internal import IntertwineFeed
internal import IntertwinePrimitives
internal import IntertwineStorage

extension ServiceConfiguration {
    /// The files of the store, checked to belong together; nil if the items or the ledger are not in a file of the service.
    ///
    /// - Returns: the files, and what is wrong with them if that was accepted.
    /// - Throws: `StoreError.unusable` with one line that says what is wrong and what to do, unless ``StoreSettings/acceptsDataLoss``.
    func storeFiles(_ extensions: ServiceExtensions) throws -> (files: StoreFiles, faults: [String])? {
        guard extensions.store == nil, extensions.ledger == nil, try store.postgresAddress() == nil else { return nil }
        let files = StoreFiles(items: store.database, ledger: store.ledgerDatabase)
        let keyFile = SigningKeyFile(path: store.path(of: "signing.key"))
        let key = signing.key.isEmpty ? StoreFiles.Key(path: keyFile.path, name: try keyFile.read()?.name) : nil
        let faults = try files.faults(key: key)
        guard faults.isEmpty || store.acceptsDataLoss else {
            throw StoreError.unusable(
                "\(faults.joined(separator: "; ")): restore all files of one backup, or start once with --accept-data-loss to go on with "
                    + "what is there")
        }
        return (files, faults)
    }
}

extension SigningKey {
    /// Names the key, and tells nothing of it.
    var name: String { String(id, radix: 16) }
}
