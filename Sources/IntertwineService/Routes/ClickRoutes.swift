internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Synchronization

/// It redirects to the stored URL only, never to a URL of the request.
/// A class, because each click holds a reference to it until its response.
final class ClickRoutes: Sendable {
    private static let pattern = "/click/{token}"
    private static let token = Parameter.segment(
        "token", FeedParameters.plain, "The click token, as in the href of the cell's selection.",
        example: #""kWaFAAEAB5v5AABhZDoxewYoes4OQtjDmmoYLaAlRQ""#)
    private static let viewer = Parameter.field(
        FeedParameters.viewerField, .string,
        "The viewer, as in other requests. The service ignores a name that is too long or is not UTF-8, and redirects.",
        example: #""viewer-1""#)

    private let performer: ActionPerformer
    private let clients: ClientReader
    private let reportsVerdict: Bool
    /// The encoded redirects. Why: many clicks lead to few destinations, so each response is encoded once.
    private let redirects = Mutex(BoundedCache<Redirect, EncodedResponse>(limit: 2_048))

    private struct Redirect: Hashable {
        var location: ByteString
        var verdict: Verdict?
    }

    init(performer: ActionPerformer, clients: ClientReader, reportsVerdict: Bool) {
        self.performer = performer
        self.clients = clients
        self.reportsVerdict = reportsVerdict
    }

    var routes: [Route] {
        let operation = APIOperation(
            "followClick", tag: "Actions", "Follow a clickthrough link",
            """
            Redirects to the stored clickthrough URL, never to a URL of the request. The click is on disk, in the ledger, before the \
            response. A link redirects too if its token has expired, or if its viewer or address is beyond `events.click-rate`. The click then does \
            not count. A person therefore always gets to the advertiser.
            """,
            parameters: [Self.token, Self.viewer],
            responses: [
                .empty(.found, "The redirect to the clickthrough URL.", [.location, .noStore, .verdict]),
                .badRequest("The path is not UTF-8.", []),
                .problem(.notFound, "The token is forged or damaged.", [.init(.invalidToken, "The token of the link is invalid.")]),
                .problem(.gone, "The ad was removed.", [.init(.goneAdvertisement, "This ad was removed.")]),
            ])
        return [
            Route(.get, Self.pattern, operation, pending: { [self] head, match in pending(head, match) }) { [self] in try await follow($0) }
        ]
    }

    private func pending(_ head: borrowing RequestHead, _ match: RouteMatch) -> HandlerResult.PendingStart? {
        let client = clients.fingerprintIgnoringErrors(of: head, from: match.peer.address, now: match.now)
        let token = match.segment("token", of: head)
        guard let link = performer.link(token: token, for: client, now: match.now) else { return nil }
        return { [self] promise in
            performer.follow(link) { [self] result in
                promise.complete { [self] in
                    let click = try result.get()
                    return .encoded(encodedRedirect(to: click.location, as: click.verdict))
                }
            }
            // The click counts even if the client does not wait for the redirect, so it cannot be cancelled.
            return nil
        }
    }

    private func follow(_ request: RouteRequest) async throws -> ServerResponse {
        let client = clients.fingerprintIgnoringErrors(of: request.head, from: request.request.peer.address, now: request.now)
        let click = try await performer.click(token: try request[Self.token], for: client, now: request.now)
        return redirect(to: click.location, as: click.verdict)
    }

    private func redirect(to location: String, as verdict: Verdict) -> ServerResponse {
        var fields: HTTPFields = [.location: location, .cacheControl: "no-store"]
        if reportsVerdict { fields[.xVerdict] = verdict.rawValue }
        return ServerResponse(status: .found, fields: fields)
    }

    private func encodedRedirect(to location: String, as verdict: Verdict) -> EncodedResponse {
        let key = Redirect(location: ByteString(location), verdict: reportsVerdict ? verdict : nil)
        if let encoded = redirects.withLock({ $0[key] }) { return encoded }
        let encoded = EncodedResponse(redirect(to: location, as: verdict), compressionLevel: nil, route: nil)
        redirects.withLock { $0[key] = encoded }
        return encoded
    }
}
