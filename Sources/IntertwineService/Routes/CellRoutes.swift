internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

extension ResponseDescription {
    var undoable: ResponseDescription {
        linked("undo", to: "undoInvocation", "Undoes the invocation.", ["id": "$response.body#/invocation/id"])
    }

    static let keyReused = problem(.unprocessableContent, "The idempotency key was used for another request.", [.keyReused])
    static let notPerformed = problem(
        .unprocessableContent, "No command could be performed, or the idempotency key was used for another request.",
        [
            .init(
                .commandFailed, "No command could be performed.",
                members: """
                    "invocation":{"id":"ifcszE5kp_GApLazICZp4A"},"commands":[{"command":"save","outcome":"failed"}]
                    """), .keyReused,
        ], members: Schema.failureMembers)

    static func viewerRequired(_ detail: String) -> ResponseDescription {
        problem(
            .forbidden,
            """
            The command requires a viewer, and the request names none; its sender is not in `server.trusted-proxies`; or a web page of another \
            origin sent the request.
            """,
            [.init(.viewerRequired, detail), .untrustedViewer, .foreignOrigin], [.problemCaching])
    }
}

extension APIOperation {
    func refusing(_ refusals: [Refusal]) -> APIOperation {
        var operation = self
        for (status, refusals) in Dictionary(grouping: refusals, by: { $0.problem.status }).sorted(by: { $0.key.code < $1.key.code }) {
            let examples = refusals.enumerated().map { ResponseDescription.ProblemExample($1.problem, name: "refused-\($0 + 1)") }
            if let index = operation.responses.firstIndex(where: { $0.status == String(status.code) }) {
                operation.responses[index] = operation.responses[index].adding(examples, "Or a command refused the action.")
            } else {
                operation.responses.append(.problem(status, "A command refused the action.", examples))
            }
        }
        return operation
    }
}

extension APIOperation {
    fileprivate func accepting(_ inputs: [(name: String, fields: [FieldDeclaration])]) -> APIOperation {
        guard body != nil, !inputs.isEmpty else { return self }
        var operation = self
        let schemas = inputs.map { name, fields in
            let schema = Schema(FieldDeclaration.schema(of: fields)[nil]).described("The input of the command `\(name)`.")
            return FieldDeclaration.isName(name) ? schema.named("Input-\(name)") : schema.titled(name)
        }
        operation.body = CellRoutes.body(.any.with("anyOf", .list((schemas + [.object([])]).map(\.value))))
        return operation
    }
}

extension Route {
    func describing(_ commands: CommandRegistry) -> Route {
        var route = self
        route.operation = operation.map { $0.refusing(commands.refusals).accepting(commands.inputs) }
        return route
    }
}

extension ResponseDescription.ProblemExample {
    fileprivate static let keyReused = ResponseDescription.ProblemExample(
        .idempotencyKeyReused, "This Idempotency-Key was used for another request.")
    fileprivate static let wrongKey = ResponseDescription.ProblemExample(
        .invalidParameter("Idempotency-Key", .invalid, "Idempotency-Key must be 1 to 255 visible ASCII characters."))
}

struct CellRoutes: Sendable {
    let performer: ActionPerformer
    let clients: ClientReader
    let keys: IdempotencyKeys
    let lists: [ViewerList]
    let reportsVerdict: Bool
    let viewerDidChange: @Sendable (_ viewer: String?) -> Void

    private static let slot = Parameter.segment(
        "slot", .string(minLength: 1, maxLength: 64, pattern: "^[A-Za-z][A-Za-z0-9_-]*$"), "The slot, as the cell's `actions` name it.",
        example: #""like""#)
    private static let clickToken = Parameter.text(
        "token", FeedParameters.plain,
        """
        The click token of the page that shows the cell: the last segment of an ad's link. Without it, the service performs the action \
        and does not count the click (`no-token`). This applies to a selection of an ad, and to any other slot that records a click.
        """, example: #""kWaFAAEAB5v5AABhZDoxewYoes4OQtjDmmoYLaAlRQ""#
    ) { (query) throws(Problem) in try query.text("token") }
    private static let listEntryID = Parameter.segment(
        "cell", FeedParameters.plain.with("format", .text("cell-id")), "The cell's id, percent-encoded.", example: #""user:tt""#)
    private static let invocation = Parameter.segment(
        "id", FeedParameters.plain, "The id of the invocation, the last segment of `undo.href`.", example: #""ifcszE5kp_GApLazICZp4A""#)

    var routes: [Route] {
        [
            Route(
                .post, "/cells/{id}/selection",
                Self.performing(
                    "selectCell", "Select a cell",
                    """
                    Runs the commands of the cell's selection, in order. The event is on disk before the response. For a user, the commands are \
                    `analytics` and `present`. For an ad, they are `analytics` and `clickthrough`: the client opens `open.href`. A selection of \
                    an ad counts only with `token`.
                    """, more: [Self.clickToken], takesInput: true, takesToken: true)
            ) { try await perform(.selection, $0) },
            Route(
                .delete, "/cells/{id}/selection",
                Self.performing(
                    "deselectCell", "Deselect a cell",
                    "Runs the commands of the cell's deselection. If the viewer has not selected the cell, the event is recorded and the state stays."
                )
            ) { try await perform(.deselection, $0) },
            Route(
                .post, "/cells/{id}/dismissal",
                Self.performing(
                    "dismissCell", "Dismiss a cell", "Hides the cell from the viewer's feed. `undo` shows the cell in its position again.",
                    viewer: FeedParameters.requiredViewer, takesInput: true)
            ) { try await perform(.dismissal, $0) },
            Route(
                .post, "/cells/{id}/{slot}",
                Self.performing(
                    "performSlot", "Perform a custom slot of a cell",
                    """
                    Runs the commands of a slot that the kind of cell adds, such as `like`, in order. The event is on disk before the \
                    response. The invocation can be undone if each of its commands can be undone. If a command opens a URL, the client \
                    opens `open.href`. A click on an ad counts only with `token`.
                    """, more: [Self.slot, Self.clickToken], takesInput: true, takesToken: true)
            ) { try await perform(try Self.ownSlot(of: $0), $0) },
            Route(.delete, "/invocations/{id}", Self.undoing) { try await undo($0) },
            Route(
                .delete, "/saved/{cell}",
                Self.removal(
                    from: .saved, "unsaveCell", "Remove a cell from the saved cells",
                    """
                    Performs the command `unsave`. The time since the cell was saved is not limited, and the item need not exist any \
                    more. `undo` puts the cell back into its position.
                    """)
            ) { try await remove(from: .saved, by: ListRemoval.unsave.name, $0) },
            Route(
                .delete, "/dismissed/{cell}",
                Self.removal(
                    from: .dismissed, "restoreCell", "Restore a dismissed cell",
                    """
                    Performs the command `restore`, which shows the cell in its position in the feed again. The time since the dismissal \
                    is not limited, and the item need not exist any more. `undo` hides the cell again.
                    """)
            ) { try await remove(from: .dismissed, by: ListRemoval.restore.name, $0) },
        ]
            + lists.map { list in
                let name = list.rawValue
                return Route(
                    .delete, "\(list.path)/{cell}",
                    Self.removal(
                        from: list, "unlist" + name.prefix(1).uppercased() + name.dropFirst(), "Remove a cell from the list \(name)",
                        """
                        Performs the command `\(ListRemoval.from(list).name)`. The time since the cell was added is not limited, and the item need not exist \
                        any more. `undo` puts the cell back into its position.
                        """)
                ) { try await remove(from: list, by: ListRemoval.from(list).name, $0) }
            }
    }

    fileprivate static func body(_ schema: Schema) -> RequestBodyDescription {
        RequestBodyDescription(
            schema, text: "The input of the slot. The service reads it only if the action has `input`.", isRequired: false)
    }

    private static func performing(
        _ id: String, _ summary: String, _ text: String,
        viewer: Parameter<Void> = FeedParameters.viewer,
        more: [any RequestParameter] = [], takesInput: Bool = false, takesToken: Bool = false
    ) -> APIOperation {
        let malformedBody =
            takesInput ? [ResponseDescription.ProblemExample(.invalidBody(at: "", .invalid, "The body is not a JSON object."))] : []
        let wrongValue = [
            ResponseDescription.ProblemExample(
                .invalidBody(at: "/reason", .required, "reason: is missing.", status: .unprocessableContent))
        ]
        return APIOperation(
            id, tag: "Actions", summary, text,
            parameters: [FeedParameters.cell] + more
                + [FeedParameters.dryRun, viewer, FeedParameters.acceptLanguage, Parameter.idempotencyKey],
            body: takesInput ? body(.object([])) : nil,
            responses: [
                .json(
                    .ok, "The action is performed. `commands` has the outcome of each command.", .performance,
                    [.noStore, .verdict, .contentLanguage]
                ).undoable,
                .badRequest(
                    takesInput ? "A parameter is invalid, or the body is not a JSON object." : "A parameter is invalid.",
                    [.wrongKey] + malformedBody),
                .viewerRequired(ActionError.viewerRequired(command: "dismiss").problem.detail),
                .problem(
                    .notFound,
                    "The cell does not exist, or has no command in this slot\(takesToken ? "; or the token is forged or of another cell" : "").",
                    [
                        .init(.unknownCell, "There is no such cell."),
                        .init(.emptySlot, "The cell has no command in the slot selection."),
                    ] + (takesToken ? [.init(.invalidToken, ActionError.forgedToken.problem.detail)] : [])),
                takesInput ? .notPerformed.adding(wrongValue, "Or a value of the body is invalid.") : .notPerformed,
            ])
    }

    private static func removal(from list: ViewerList, _ id: String, _ summary: String, _ text: String) -> APIOperation {
        APIOperation(
            id, tag: "Actions", summary, text,
            parameters: [listEntryID, FeedParameters.dryRun, FeedParameters.requiredViewer, Parameter.idempotencyKey],
            responses: [
                .json(.ok, "The action is performed. `commands` has the outcome of each command.", .performance, [.noStore, .verdict])
                    .undoable,
                .badRequest("A parameter is invalid.", [.wrongKey]),
                .viewerRequired(ViewerListRoutes.viewerRequired(list).detail),
                .problem(.notFound, "The cell is not on the list.", [.init(.unknownCell, "There is no such cell.")]), .notPerformed,
            ])
    }

    private static let undoing = APIOperation(
        "undoInvocation", tag: "Actions", "Undo an invocation",
        """
        Reverts the commands of the invocation in reverse order. Only its viewer can undo it. A repeated request with the same idempotency \
        key gets the stored response.
        """,
        parameters: [invocation, FeedParameters.dryRun, FeedParameters.viewer, Parameter.idempotencyKey],
        responses: [
            .json(.ok, "The invocation is undone. With `dryRun`, the response has the commands that would be undone.", .undone, [.noStore]),
            .badRequest("A parameter, the viewer's name or the idempotency key is invalid.", [.wrongKey, .wrongViewer]),
            .viewerRequired(ActionError.viewerRequired(command: "dismiss").problem.detail),
            .problem(
                .notFound, "The invocation does not exist, or another viewer performed it.",
                [.init(.unknownInvocation, "There is no such invocation.")]),
            .problem(
                .conflict, "The invocation cannot be undone, or was undone before.",
                [
                    .init(.notUndoable, "The command clickthrough cannot be undone."),
                    .init(.alreadyUndone, "This invocation has been undone."),
                ]),
            .problem(.gone, "The time for the undo is over.", [.init(.undoExpired, "The time for undoing this invocation is over.")]),
            .keyReused,
            .problem(
                .badGateway, "A command could not be undone, and the service undid none.",
                [.init(.commandFailed, "The command save could not be undone, and no other command was. Try again.")]),
        ])

    private func perform(_ slot: CommandKey, _ request: RouteRequest) async throws -> ServerResponse {
        let client = try await clients.fingerprint(of: request.head, from: request.request.peer.address, now: request.now)
        let cell = try request[FeedParameters.cell]
        let key = try keys.key(of: request, viewer: client.viewer)
        let body = request.request.body.bytes ?? []
        let token = slot == .selection || slot.isOwn ? try request[Self.clickToken] : nil
        defer { viewerDidChange(client.viewer) }
        if try request[FeedParameters.dryRun] {
            let simulated = try await performer.simulate(slot, of: cell, for: client, now: request.now, body: body)
            return Self.response(for: simulated, to: client, of: request).response()
        }
        return try response(
            for: try await performer.perform(
                slot, of: cell, for: client, now: request.now, body: body, token: token, idempotency: key
            ) { performance in
                Self.response(for: performance, to: client, of: request).bytes
            }, to: client, of: request)
    }

    private func remove(from list: ViewerList, by command: String, _ request: RouteRequest) async throws -> ServerResponse {
        let client = try await clients.fingerprint(of: request.head, from: request.request.peer.address, now: request.now)
        guard client.viewer != nil else { throw ViewerListRoutes.viewerRequired(list) }
        let cell = try request[Self.listEntryID]
        let key = try keys.key(of: request, viewer: client.viewer)
        defer { viewerDidChange(client.viewer) }
        if try request[FeedParameters.dryRun] {
            let simulated = try await performer.simulate(command, of: cell, on: list, for: client)
            return Self.response(for: simulated, to: client, of: request).response()
        }
        return try response(
            for: try await performer.perform(command, of: cell, on: list, for: client, now: request.now, idempotency: key) { performance in
                Self.response(for: performance, to: client, of: request).bytes
            }, to: client, of: request)
    }

    private func response(
        for outcome: ActionPerformer.Outcome, to client: ClientFingerprint, of request: RouteRequest
    ) throws -> ServerResponse {
        let answer =
            switch outcome {
            case .performed(let performance): Self.response(for: performance, to: client, of: request)
            case .replayed(let bytes): try StoredResponse(bytes)
            }
        return answer.response(reportsVerdict: reportsVerdict)
    }

    /// Standard command keys are rejected, because they have own routes or none.
    private static func ownSlot(of request: RouteRequest) throws -> CommandKey {
        let slot = CommandKey(try request[Self.slot])
        guard slot.isOwn else { throw ActionError.nothingToDo(slot, cell: try request[FeedParameters.cell]) }
        return slot
    }

    private func undo(_ request: RouteRequest) async throws -> ServerResponse {
        let client = try await clients.fingerprint(of: request.head, from: request.request.peer.address, now: request.now)
        let id = try request[Self.invocation]
        let key = try keys.key(of: request, viewer: client.viewer)
        defer { viewerDidChange(client.viewer) }
        if try request[FeedParameters.dryRun] {
            return Self.response(
                for: try await performer.simulateUndo(invocation: id, for: client, now: request.now), of: id
            ).response()
        }
        guard let key else {
            return Self.response(for: try await performer.undo(invocation: id, for: client, now: request.now), of: id).response()
        }
        let outcome = try await performer.undo(invocation: id, for: client, now: request.now, idempotency: key) {
            Self.response(for: $0, of: id).bytes
        }
        switch outcome {
        case .undone(let steps): return Self.response(for: steps, of: id).response()
        case .replayed(let bytes): return try StoredResponse(bytes).response()
        }
    }

    private static func response(for undone: [StepResult], of invocation: String) -> StoredResponse {
        StoredResponse(status: .ok, verdict: nil, body: StepResult.json(undone, of: invocation))
    }

    private static func response(
        for performance: CommandResult, to client: ClientFingerprint, of request: RouteRequest
    ) -> StoredResponse {
        // Only a presentation has texts; other results are for programs.
        let language = performance.presentation == nil ? nil : client.language?.tag
        let didSomething = performance.isComplete || performance.steps.contains { $0.outcome == .performed }
        guard didSomething else {
            var problem = Problem(.unprocessableContent, .commandFailed, "No command could be performed.")
            problem.members = performance.outcomeMembers
            let body = problem.json(of: request.request.id)
            return StoredResponse(status: problem.status, verdict: performance.verdict, body: body)
        }
        return StoredResponse(status: .ok, verdict: performance.verdict, language: language, body: performance.json())
    }
}
