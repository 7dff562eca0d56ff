internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwineImages

enum ImageResponses {
    static func response(_ answer: ImageResponse, to request: RequestID?) -> ServerResponse {
        switch answer.body {
        case .complete(let image): response(image, fields: answer.headers)
        case .stream(let stream, let length): response(stream, length: length, fields: answer.headers)
        case .failure(let failure): response(failure, to: request, fields: answer.headers)
        }
    }

    static func response(sample bytes: [UInt8]) -> ServerResponse {
        var fields = HTTPFields(ImageFormat.png)
        fields[.vary] = nil
        fields[.cacheControl] = "public, max-age=86400"
        fields[.cacheStatus] = CacheStatus(.hit).field
        var response = ServerResponse(status: .ok, fields: fields, body: bytes)
        response.entityTag = EntityTag.of(bytes)
        response.acceptsRanges = true
        return response
    }

    private static func response(_ image: CachedImage, fields: HTTPFields) -> ServerResponse {
        var response =
            if let file = image.body.file {
                ServerResponse(
                    status: .ok, fields: fields,
                    file: FileBody(descriptor: file.descriptor, count: image.body.count, owner: file.owner))
            } else {
                ServerResponse(status: .ok, fields: fields, body: image.body.bytes)
            }
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

    private static func response(_ failure: ImageError, to request: RequestID?, fields: HTTPFields) -> ServerResponse {
        let problem = Problem(.init(code: failure.status), .image(failure), detail(failure), fields: fields)
        var response = problem.refusal(of: request)
        // A client that cancelled its request gets one response, and the connection is closed (499 is the status of nginx for it).
        response.closesConnection = failure.status == 499
        return response
    }

    /// For failures between the proxy and an origin, the code is sufficient.
    private static func detail(_ failure: ImageError) -> String {
        switch failure.code {
        case "address-denied": "The image's address is not public. The setting images.allowed-networks allows others."
        case "port-denied": "The port of the image is not allowed. The setting images.allowed-ports allows others."
        case "host-denied": "The host of the image is not allowed. The settings images.allowed-hosts and images.denied-hosts decide."
        default: "The image could not be fetched."
        }
    }
}
