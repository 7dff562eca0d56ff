internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

extension RouteRequest {
    /// The body as one object, read as the bodies of items and events are.
    func object() throws(Problem) -> ItemFields {
        guard let fields = try? ItemFields(JSONPreamble.text(request.body.bytes ?? []), isLenient: true) else {
            throw Problem.invalidBody(at: "", .invalid, "The body must be JSON: one object.")
        }
        return fields
    }
}
