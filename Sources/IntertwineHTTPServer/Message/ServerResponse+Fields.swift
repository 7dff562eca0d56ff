public import HTTPTypes

extension ServerResponse {
    /// The same answer with its fields and its bytes to be read and changed, where they were finished.
    public var unfinished: ServerResponse {
        if case .finished(let finished) = body { finished.response } else { self }
    }

    /// The same answer with more fields. One that stands there already, with the same value, is not added again.
    public func adding(_ fields: HTTPFields) -> ServerResponse {
        var response = self
        if case .finished(let finished) = body {
            response.body = .finished(finished.adding(fields))
        } else {
            for field in fields where !response.fields[fields: field.name].contains(where: { $0.value == field.value }) {
                response.fields.append(field)
            }
        }
        return response
    }
}
