internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct EventVoidRoutes: Sendable {
    private static let members = ["from", "until", "kind", "campaign", "address", "userAgent", "dryRun"]

    let archive: any LedgerArchive
    let addresses: @Sendable () -> AddressPrivacy

    private struct VoidedEvents: DescribedAnswer {
        struct VoidedGroup: DescribedAnswer {
            static let notes: [String: PropertyNote] = ["campaign": "The id; empty for events of house ads."]

            var campaign: String
            var kind: String
            var events: Int
        }

        static let notes: [String: PropertyNote] = [
            "dryRun": "True if nothing was changed.", "events": "The number of events that the selection has.",
        ]

        var dryRun: Bool
        var events: Int
        var groups: [VoidedGroup]
    }

    var routes: [Route] {
        let body = Schema.object(
            [
                .required("from", .time, "The first moment."), .required("until", .time, "The moment after the last one."),
                .optional("kind", Schema.string.orNull, "The kind of the events: `impression`, `click`, or one of playback."),
                .optional("campaign", Schema.string.orNull, "The id of a campaign."),
                .optional("address", Schema.string.orNull, "An address, or its stored form as exports have it, such as `203.0.113.0/24`."),
                .optional("userAgent", Schema.string.orNull, "A part of the user agent, with the same letter case."),
                .optional("dryRun", Schema.boolean.orNull, "If true, the events are counted, and nothing changes. The default is false."),
            ], isClosed: true)
        let operation = APIOperation(
            "voidEvents", tag: "Reports", "Void counted events",
            """
            Counted events of ads get the verdict `voided`. They leave the counts of all reports and the delivery of their campaign, which owes them \
            again. Reports show them as `voided-impression` and `voided-click`. Calls of trackers that wait are withdrawn. Tokens stay used.
            """,
            body: RequestBodyDescription(
                body,
                example: """
                    {"from": "2026-11-21T10:00:00Z", "until": "2026-11-21T11:00:00Z", "campaign": "spring", "address": "2001:db8::/48", \
                    "dryRun": true}
                    """),
            responses: [
                .json(
                    .ok, "The events are voided, or would be.", VoidedEvents.schema, [.noStore],
                    example: #"{"dryRun": true, "events": 17, "groups": [{"campaign": "spring", "kind": "click", "events": 17}]}"#),
                .badRequest(
                    "The body is no JSON object, or the request is malformed.",
                    [.init(.invalidBody(at: "", .invalid, "The body must be JSON: one object."))]),
                .forbidden, .contentTooLarge,
                .problem(
                    .unprocessableContent, "A member is missing or invalid.",
                    [
                        .init(
                            .invalidBody(
                                at: "/from", .required, "The body is not valid: from: is required.", status: .unprocessableContent))
                    ]),
                .storeUnavailable,
            ])
        return [Route(.post, "/admin/events/void", operation, timeLimit: .seconds(3_600)) { try await void($0) }]
    }

    private func void(_ request: RouteRequest) async throws -> ServerResponse {
        try request.query.refuseParameters(besides: [])
        let (selection, isDryRun) = try selection(request.object())
        if !isDryRun { try await AuditContext.begin() }
        let groups = try await archive.void(selection, isDryRun: isDryRun)
        let events = groups.reduce(0) { $0 + $1.events }
        if !isDryRun { AuditContext.current?.record(["voided": events], items: Set(groups.map { "campaign:\($0.campaign)" }).sorted()) }
        return try .noStore(
            json: VoidedEvents(
                dryRun: isDryRun, events: events,
                groups: groups.map { .init(campaign: $0.campaign, kind: $0.kind, events: $0.events) }))
    }

    private func selection(_ fields: ItemFields) throws(Problem) -> (selection: EventSelection, isDryRun: Bool) {
        try fields.refuseMembers(besides: Self.members)
        // Without a condition, the events of all campaigns are voided.
        if let empty = fields.object.members.first(where: { $0.value.kind == .string && $0.value.range.isEmpty }) {
            throw .invalidMember(String(decoding: fields.object.characters(of: empty.name), as: UTF8.self), .required, "must not be empty")
        }
        let (from, until) = (try moment("from", fields), try moment("until", fields))
        guard from < until else { throw .invalidMember("until", .conflict, "must be later than from") }
        var selection = EventSelection(time: from..<until)
        if let fault = selection.fault { throw .invalidMember("until", .outOfRange, fault) }
        selection.campaign = try text("campaign", fields)
        selection.userAgent = try text("userAgent", fields)
        if let kind = try text("kind", fields) {
            selection.kind = LedgerEvent.Kind(rawValue: kind)
            guard selection.kind?.isOfAds ?? false else {
                throw .invalidMember("kind", .unknown, "must be impression, click or a kind of playback")
            }
        }
        if let address = try text("address", fields) {
            do { selection.addresses = try addresses().storedForms(of: address, in: selection.time) } catch {
                throw .invalidMember("address", error == .malformed ? .invalid : .conflict, error.rawValue)
            }
        }
        let dryRun: JSONToken?
        do { dryRun = try fields.token("dryRun") } catch { throw .invalidMember("dryRun", InvalidValue.Code(error), "\(error)") }
        guard let dryRun else { return (selection, false) }
        guard dryRun.kind == .boolean else { throw .invalidMember("dryRun", .invalid, "must be true or false") }
        return (selection, fields.object.bytes[dryRun.range].first == UInt8(ascii: "t"))
    }

    private func text(_ field: String, _ fields: ItemFields) throws(Problem) -> String? {
        do { return try fields.optionalText(field, limit: 1_024).map { String(decoding: $0, as: UTF8.self) } } catch {
            throw Problem.invalidBody(
                at: "/\(field)", InvalidValue.Code(error), "The body is not valid: \(error).", status: .unprocessableContent)
        }
    }

    private func moment(_ field: String, _ fields: ItemFields) throws(Problem) -> Int64 {
        guard let text = try text(field, fields) else { throw .invalidMember(field, .required, "is required") }
        guard let moment = Timestamp.milliseconds(of: text) else {
            throw .invalidMember(field, .invalid, "must be a time such as 2026-11-21T10:00:00Z")
        }
        return moment
    }
}
