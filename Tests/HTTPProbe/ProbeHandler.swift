import HTTPTypes
import IntertwineHTTPServer

/// Serves one finished page, and echoes what is posted.
struct ProbeHandler: HTTPHandler {
    let page: EncodedResponse

    init(pageBytes: Int) {
        var response = ServerResponse(
            status: .ok, fields: [.contentType: "application/json"],
            body: Array(String(repeating: "{\"cell\":\"UserSnapshot\"},", count: pageBytes / 24 + 1).utf8.prefix(pageBytes)))
        response.entityTag = "\"probe\""
        response.isCompressible = true
        page = EncodedResponse(response)
    }

    func cachedResponse(for head: borrowing RequestHead) -> EncodedResponse? {
        head.hasTarget("/page") && (head.method == .get || head.method == .head) ? page : nil
    }

    func plan(for request: HTTPRequest, peer: PeerAddress) -> HandlerResult {
        .accept { request in
            ServerResponse(status: .ok, fields: [.contentType: "application/octet-stream"], body: request.body.bytes ?? [])
        }
    }
}
