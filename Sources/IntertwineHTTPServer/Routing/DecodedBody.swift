internal import Foundation

extension RouteRequest {
    package func body<Value: Decodable>(as type: Value.Type, _ shape: String) throws(Problem) -> Value {
        let (decoder, bytes) = (JSONDecoder(), Data(request.body.bytes ?? []))
        do {
            return try decoder.decode(type, from: bytes)
        } catch {
            // People's clients write a comma before the end of a list or an object.
            decoder.allowsJSON5 = true
            if let value = try? decoder.decode(type, from: bytes) { return value }
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
