internal import IntertwineFeed
internal import IntertwineRouting

/// Schemas of the results of actions.
extension Schema {
    static let performance = Schema.object([
        .optional("invocation", invocation, "Missing in a dry run."),
        .optional("dryRun", .flag(true), "True in a dry run: nothing was run."),
        .optional("slot", .string(minLength: 1), "The slot that was performed. Missing if a cell was removed from a list."),
        .required("commands", .list(of: .step), "One result for each command, in the order in which they ran."),
        .optional("presentation", .presentation),
        .optional("open", .open),
        .optional("undo", .undo),
    ]).described("The result of a performed action.").examples(
        #"""
        {"invocation": {"id": "ifcszE5kp_GApLazICZp4A"}, "slot": "selection", "commands": [{"command": "analytics", "outcome":
        "performed"}, {"command": "present", "outcome": "performed"}], "presentation": {"type": "push", "screen": "ImageZoom",
        "arguments": {"username": "Tongue Twister", "image":
        "/images/AXuJAAecoioHpRy2i46ncVRsnkNx24E/aHR0cHM6Ly9waWN0dXJlcy5leGFtcGxlLmNvbS90dC5wbmc"}}, "undo": {"type":
        "request", "method": "DELETE", "href": "/invocations/ifcszE5kp_GApLazICZp4A", "expiresAt": "2026-11-21T09:11:43Z"}}
        """#
    )
    .with(
        "dependentSchemas",
        .object([.init("dryRun", Schema.any.with("not", .object([.init("required", .texts(["invocation"]))])).value)])
    ).named("Performance")
    private static let invocation = Schema.object([
        .required("id", .string(minLength: 1), "The id for the undo.")
    ]).described("A performed action.").named("Invocation")
    /// The members of the problem of a failed command.
    static let failureMembers: [OpenAPIValue.Member] = [
        .init("invocation", invocation.value), .init("commands", Schema.list(of: .step).value),
    ]
    private static let step = Schema.object([
        .required("command", .string(minLength: 1), "The command's name, such as `analytics`. The list is open."),
        .required("outcome", .outcome),
    ]).described("The result of one command.").named("Step")
    private static let outcome = Schema.words(StepResult.Outcome.self).described(
        "`skipped`: not run, because an earlier command failed. `undone`: performed and reverted. `simulated`: not run in a dry run."
    ).named("Outcome")
    private static let presentation = Schema.object([
        .required("type", .string, "How it is shown, such as `push`."),
        .required("screen", Schema.string.examples(#""ImageZoom""#)),
        .required("arguments", .map(of: .string)),
    ]).described("A screen that the client shows.").named("Presentation")
    private static let open = Schema.object([
        .required("href", .uri, "The stored URL, such as the clickthrough URL of an ad.")
    ]).described("A location outside the app that the client opens.").named("Open")
    private static let undo = Schema.object([
        .required("type", .word("request")),
        .required("method", .word("DELETE")),
        .required("href", .href),
        .required("expiresAt", .time),
    ]).described("The request that undoes the invocation, until `expiresAt`.").named("Undo")
    static let undone = Schema.object([
        .optional("invocation", invocation),
        .required("commands", .list(of: .step), "One result for each command, in the order in which they were undone."),
    ]).described("The result of an undo.").examples(
        #"""
        {"invocation": {"id": "ifcszE5kp_GApLazICZp4A"}, "commands": [{"command": "present", "outcome": "undone"}, {"command":
        "analytics", "outcome": "undone"}]}
        """#
    ).named("Undone")
    static let event = Schema.object([
        .required("type", .words(EventRoutes.types)),
        .required("cell", .string, "The cell's id."),
        .required("token", .string, "The token of the cell on its page."),
    ]).described("An event that a client reports. The body of a cell's action has it.").named("Event")
    static let events = Schema.object([.required("events", .list(of: .event, maximum: EventRoutes.limit))])
        .described("Events that a client reports.").named("Events")
    private static let eventResult = Schema.object([
        .required("type", .words(EventRoutes.types)),
        .required("cell", .string),
        .required("verdict", .verdict),
    ]).titled("Event result").described("The verdict on an event.").named("EventResult")
    static let eventResults = Schema.object([
        .required("results", .list(of: .eventResult, maximum: EventRoutes.limit), "One result for each event, in the order of the events.")
    ]).described("The verdicts on reported events.").named("EventResults")
    static let verdict = Schema.words(Verdict.publicCases.map(\.rawValue)).described(
        """
        Whether it counts, and if not, why. `duplicate`: it was counted before. `expired`: its token is too old. `bot`, `prefetch`: what the \
        request says of itself. `subresource`: a page of another site loaded the link as an image, a script, a frame or by `fetch`. `limited`: too many of one viewer or address. `unknown`: its token is forged or another cell's, or the cell is not there any more. `unseen`: a \
        click without an impression of the same page before, where only others are counted. `no-token`: a selection of an ad without the click token of a page. \
        `late`: its campaign does not run now, the goal of that is reached, or the reservation of its place was over; or the ad became a campaign's after the page was made.
        """
    ).named("Verdict")
}
