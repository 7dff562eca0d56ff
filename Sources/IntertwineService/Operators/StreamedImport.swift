internal import Dispatch
internal import IntertwineFeed
internal import IntertwineStorage

/// An import that is fed from a task: its calls block, so they are made on a queue of its own.
///
/// `@unchecked Sendable`: importer and list are touched on the serial queue alone.
final class StreamedImport: @unchecked Sendable {
    private let queue = DispatchQueue(label: "intertwine.admin.import")
    private let make: (StreamedImport) throws -> ItemImport
    private var importer: ItemImport?
    private var bad: [BadItem] = []

    /// - Parameters:
    ///   - limit: bytes, decompressed.
    ///   - reported: bad items that are kept.
    init(into database: String, kinds: ItemKinds, policy: BadItemPolicy, limit: Int, reported: Int) {
        make = { [kinds] owner in
            try ItemImport(into: database, kinds: kinds, policy: policy, limit: limit) { [weak owner] item in
                guard let owner, owner.bad.count < reported else { return }
                owner.bad.append(item)
            }
        }
    }

    func append(_ bytes: [UInt8]) async throws {
        try await perform { try $0.opened().append(bytes) }
    }

    /// What was done, and the first of the items that were left out.
    func commit() async throws -> (ImportSummary, [BadItem]) {
        try await perform { owner in
            let importer = try owner.opened()
            try importer.endOfFile()
            let summary = try importer.commit()
            owner.importer = nil
            return (summary, owner.bad)
        }
    }

    func rollback() async {
        try? await perform { owner in
            owner.importer?.rollback()
            owner.importer = nil
        }
    }

    /// Waits here, and not on the caller's thread, until another import is over.
    private func opened() throws -> ItemImport {
        if let importer { return importer }
        let importer = try make(self)
        self.importer = importer
        return importer
    }

    private func perform<Value: Sendable>(_ body: @escaping @Sendable (StreamedImport) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body(self) }) }
        }
    }
}
