internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

/// Tells the ledger's verdict in `X-Verdict`, where configuration allows.
struct VerdictField: Sendable {
    let isTold: Bool

    func added(_ verdict: Verdict?, to response: ServerResponse) -> ServerResponse {
        guard isTold, let verdict else { return response }
        var response = response
        response.fields[.xVerdict] = verdict.rawValue
        return response
    }
}
