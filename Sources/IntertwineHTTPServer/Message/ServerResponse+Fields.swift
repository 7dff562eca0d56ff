public import HTTPTypes

extension ServerResponse {
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

extension RequestPlan {
    /// The same plan; where it is an answer, that has more fields.
    public func adding(_ fields: HTTPFields) -> RequestPlan {
        guard case .answer(let response) = decision else { return self }
        return .answer(response.adding(fields), route: route)
    }
}
