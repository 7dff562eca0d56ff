internal import Foundation

extension RouteRequest {
    package func body<Value: Decodable>(as type: Value.Type, _ shape: String) throws(Problem) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(request.body.bytes ?? []))
        } catch {
            throw .invalidBody(shape, [InvalidValue(decoding: error, shape)])
        }
    }
}

extension InvalidValue {
    init(decoding error: any Error, _ detail: String) {
        let (path, code): ([any CodingKey], Code) =
            switch error {
            case DecodingError.keyNotFound(let key, let context): (context.codingPath + [key], .required)
            case DecodingError.valueNotFound(_, let context), DecodingError.typeMismatch(_, let context),
                DecodingError.dataCorrupted(let context):
                (context.codingPath, .invalid)
            default: ([], .invalid)
            }
        self.init(.body(path.map { $0.intValue.map(String.init) ?? $0.stringValue }), code, detail)
    }
}
