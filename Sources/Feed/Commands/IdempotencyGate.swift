/// Lets requests with the same idempotency key through one after another, so that the second finds the answer of the first.
///
/// It holds within one process. Between replicas the ledger decides: one of two is committed, and both get its answer.
actor IdempotencyGate {
    /// Those who wait for each key that is under way.
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

    /// Runs `body` alone among those with the same key.
    func run<Value: Sendable>(_ key: IdempotencyKey, _ body: @Sendable () async throws -> Value) async rethrows -> Value {
        let name = key.scope + "\u{0}" + key.key
        await enter(name)
        defer { leave(name) }
        return try await body()
    }

    private func enter(_ name: String) async {
        guard waiting[name] != nil else {
            waiting[name] = []
            return
        }
        await withCheckedContinuation { waiting[name, default: []].append($0) }
    }

    private func leave(_ name: String) {
        guard let next = waiting[name]?.first else {
            waiting[name] = nil
            return
        }
        waiting[name]?.removeFirst()
        next.resume()
    }
}
