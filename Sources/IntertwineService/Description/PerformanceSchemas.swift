internal import IntertwineFeed
internal import IntertwineHTTPServer

extension Schema {
    static let performance = Schema.object([
        .optional("invocation", invocation, "The invocation. Absent in a dry run."),
        .optional("dryRun", .flag(true), "True in a dry run, which performs no command."),
        .optional("slot", .string(minLength: 1), "The performed slot. Absent if a cell was removed from a list."),
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
    static let failureMembers: [JSONValue.Member] = [
        .init("invocation", invocation.value), .init("commands", Schema.list(of: .step).value),
    ]
    private static let step = Schema.object([
        .required("command", .string(minLength: 1), "The command's name, such as `analytics`. The list is open."),
        .required("outcome", .outcome),
    ]).described("The result of one command.").named("Step")
    private static let outcome = Schema.words(StepResult.Outcome.self).described(
        "The outcome of a command. `skipped`: not run, because an earlier command failed. `undone`: performed and undone. `simulated`: not run in a dry run."
    ).named("Outcome")
    private static let presentation = Schema.object([
        .required("type", .string, "The way of presentation, such as `push`."),
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
    static let verdict = Schema.words(Verdict.publicCases.map(\.rawValue)).described(
        """
        The verdict on an event. `counted`: the event counts. `surplus`: the campaign owes nothing more, because its goal, its goal of \
        the day or a frequency cap of the viewer is reached. `duplicate`: its token was used before, or the \
        person has clicked the ad within `events.click-window`. `expired`: its token is too old. \
        `bot`, `prefetch`: a header field of the request says so. `subresource`: a page of another site loaded the link as an image, \
        script or frame, or with `fetch`. `scripted`: a page of another site followed the link without an action of its user. \
        `limited`: the viewer or the address sent too many events. `unknown`: the token is forged or belongs to another cell, the \
        cell no longer exists, or the event is malformed. `unseen`: the event that must come first is missing: the impression of the page \
        before a click, unless `ads.count-clicks` is `all`, or the playback event before another one. `too-early`: the time since the page is shorter than the \
        cell must be visible, or than the media plays. `no-token`: a selection of an ad without the click token of a page. `late`: the \
        campaign is paused, has not started or has ended. An ad that became a campaign's after the page was sent is `late` too.
        """
    ).named("Verdict")
}
