import HTTPServer
import HTTPTypes

/// Serves one finished page, and echoes what is posted.
struct ProbeHandler: HTTPHandler {
    let page: CannedResponse

    init(pageBytes: Int) {
        var response = ServerResponse(
            status: .ok, fields: [.contentType: "application/json"],
            body: Array(String(repeating: "{\"cell\":\"UserSnapshot\"},", count: pageBytes / 24 + 1).utf8.prefix(pageBytes)))
        response.entityTag = "\"probe\""
        response.isCompressible = true
        page = CannedResponse(response)
    }

    func canned(for head: borrowing RequestHead) -> CannedResponse? {
        head.hasTarget("/page") && (head.method == .get || head.method == .head) ? page : nil
    }

    func respond(to request: ServerRequest) async -> ServerResponse {
        ServerResponse(status: .ok, fields: [.contentType: "application/octet-stream"], body: request.body.bytes ?? [])
    }
}
