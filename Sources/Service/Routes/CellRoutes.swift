internal import Feed
internal import HTTPServer
internal import HTTPTypes

/// `/cells/{id}/…` and `/selections/{id}`: performing what people do with cells, and taking it back.
struct CellRoutes: Sendable {
    let performer: ActionPerformer
    let clients: ClientReader
    let keys: IdempotencyKeys
    let verdicts: VerdictField

    var routes: [Route] {
        [
            Route(.post, "/cells/{id}/selection") { try await perform(.selection, $0) },
            Route(.delete, "/cells/{id}/selection") { try await perform(.deselection, $0) },
            Route(.post, "/cells/{id}/dismissal") { try await perform(.dismissal, $0) },
            Route(.delete, "/selections/{id}") { try await undo($0) },
        ]
    }

    private func perform(_ slot: CommandKey, _ request: RouteRequest) async throws -> ServerResponse {
        let client = try clients.trace(of: request.head, from: request.request.peer.address, now: request.now)
        let cell = request.parameter("id")
        let key = try keys.key(of: request, viewer: client.viewer)
        if try request.query.flag("simulate") {
            let simulated = try await performer.simulate(slot, of: cell, for: client, now: request.now)
            return Self.answer(for: simulated).response
        }
        let outcome = try await performer.perform(slot, of: cell, for: client, now: request.now, idempotency: key) { performance in
            Self.answer(for: performance).bytes
        }
        switch outcome {
        case .performed(_, let bytes), .replayed(let bytes):
            let answer = try StoredAnswer(bytes)
            return verdicts.added(answer.verdict, to: answer.response)
        case .keyReused: throw ActionError.keyReused
        }
    }

    private func undo(_ request: RouteRequest) async throws -> ServerResponse {
        let client = try clients.trace(of: request.head, from: request.request.peer.address, now: request.now)
        let selection = request.parameter("id")
        let key = try keys.key(of: request, viewer: client.viewer)
        if try request.query.flag("simulate") {
            return Self.answer(for: try await performer.simulateUndo(selection: selection, for: client, now: request.now)).response
        }
        guard let key else {
            return Self.answer(for: try await performer.undo(selection: selection, for: client, now: request.now)).response
        }
        let bytes = try await performer.undo(selection: selection, for: client, now: request.now, idempotency: key) {
            Self.answer(for: $0).bytes
        }
        return try StoredAnswer(bytes).response
    }

    private static func answer(for undone: [StepResult]) -> StoredAnswer {
        StoredAnswer(status: .ok, verdict: nil, location: nil, body: StepResult.json(undone))
    }

    /// 303 where the client is to go elsewhere, a problem (500) where nothing could be performed, else 200.
    private static func answer(for performance: Performance) -> StoredAnswer {
        if let destination = performance.destination {
            return StoredAnswer(status: .seeOther, verdict: performance.verdict, location: destination, body: performance.json())
        }
        let didSomething = performance.isComplete || performance.steps.contains { $0.outcome == .performed }
        guard didSomething else {
            let problem = Problem(.internalServerError, .commandFailed, "None of the commands could be performed.")
            return StoredAnswer(status: problem.status, verdict: performance.verdict, location: nil, body: problem.details.json)
        }
        return StoredAnswer(status: .ok, verdict: performance.verdict, location: nil, body: performance.json())
    }
}
