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

    func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        if head.hasTarget("/page"), head.method == .get || head.method == .head { return .cached(page) }
        return .task(
            RequestTask { request in
                .response(
                    ServerResponse(status: .ok, fields: [.contentType: "application/octet-stream"], body: request.body.bytes ?? []))
            })
    }
}
