/// Lets requests that must not run at once through one after another: those with the same idempotency key, so that the second finds the
/// answer of the first, and those that undo the same selection.
///
/// It holds within one process. Between replicas the ledger decides: one of two is committed, and both get its answer.
actor ActionGate {
    /// Those who wait for each name that is under way.
    private var waiting: [ExactText: [CheckedContinuation<Void, Never>]] = [:]

    /// Runs `body` alone among those with the same name.
    func run<Value: Sendable>(_ name: String, _ body: @Sendable () async throws -> Value) async rethrows -> Value {
        let name = ExactText(name)
        await enter(name)
        defer { leave(name) }
        return try await body()
    }

    private func enter(_ name: ExactText) async {
        guard waiting[name] != nil else {
            waiting[name] = []
            return
        }
        await withCheckedContinuation { waiting[name, default: []].append($0) }
    }

    private func leave(_ name: ExactText) {
        guard let next = waiting[name]?.first else {
            waiting[name] = nil
            return
        }
        waiting[name]?.removeFirst()
        next.resume()
    }
}
