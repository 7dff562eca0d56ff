internal import HTTPServer
internal import HTTPTypes
internal import Images

/// Makes the answers that carry pictures, or say why there is none.
enum PictureFormat {
    static func response(_ answer: ImageAnswer) -> ServerResponse {
        switch answer.body {
        case .whole(let image): response(image, fields: fields(answer))
        case .stream(let stream, let length): response(stream, length: length, fields: fields(answer))
        case .failure(let failure): response(failure, fields: fields(answer))
        }
    }

    private static func response(_ image: CachedImage, fields: HTTPFields) -> ServerResponse {
        var response = ServerResponse(status: .ok, fields: fields, body: image.body)
        response.entityTag = image.etag
        response.lastModified = image.lastModified
        response.acceptsRanges = true
        return response
    }

    private static func response(_ stream: ImageStream, length: Int?, fields: HTTPFields) -> ServerResponse {
        ServerResponse(status: .ok, fields: fields, length: length) { writer in
            try await withTaskCancellationHandler {
                for try await chunk in stream { try await writer.write(chunk) }
            } onCancel: {
                stream.cancel()
            }
        }
    }

    private static func response(_ failure: ImageFailure, fields: HTTPFields) -> ServerResponse {
        let problem = ProblemDetails(
            type: "urn:intertwine:problem:image-\(failure.code)", title: "Image \(failure.code.replacing("-", with: " "))",
            status: failure.status, detail: "The picture could not be had.")
        var response = problem.response(fields: fields)
        // Whoever took the request back is told so once, and nothing follows (499 is nginx's word for it).
        response.closesConnection = failure.status == 499
        return response
    }

    private static func fields(_ answer: ImageAnswer) -> HTTPFields {
        var fields = HTTPFields()
        for header in answer.headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            fields.append(HTTPField(name: name, value: header.value))
        }
        return fields
    }
}
