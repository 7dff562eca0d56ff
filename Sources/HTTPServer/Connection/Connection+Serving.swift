internal import HTTPTypes

extension Connection {
    /// Stages a finished answer in the form this request asks for.
    ///
    /// - Returns: the status and the number of bytes.
    func serve(_ canned: CannedResponse, _ head: borrowing RequestHead, closing: Bool, announcing: Bool) -> (status: Int, bytes: Int) {
        let hasBody = head.method != .head
        let seen = head.parser.seen
        var variant = canned.identity
        var coding: String?
        if canned.isNegotiated, seen & KnownField.acceptEncoding.bit != 0, canned.status == 200 {
            switch head.acceptedCodings.choose(hasGzip: canned.gzip != nil) {
            case .identity: break
            case .gzip:
                if let gzip = canned.gzip {
                    variant = gzip
                    coding = "gzip"
                }
            case .notAcceptable:
                return serve(.notAcceptable, hasBody: hasBody, closing: closing, announcing: announcing)
            }
        }
        if seen & KnownField.selectors != 0, canned.status == 200, head.method == .get || head.method == .head {
            switch Conditions.evaluate(head, entityTag: variant.entityTag, lastModified: canned.lastModified) {
            case .met: break
            case .notModified:
                return (304, stage(variant.notModified, nil, closing: closing, announcing: announcing))
            case .failed:
                return serve(.preconditionFailed, hasBody: hasBody, closing: closing, announcing: announcing)
            }
            if canned.acceptsRanges, head.method == .get, seen & KnownField.range.bit != 0,
                Conditions.allowRange(head, entityTag: variant.entityTag, lastModified: canned.lastModified)
            {
                switch ByteRange(head.parser.value(of: .range, in: head.bytes), length: variant.body.count) {
                case .ignored: break
                case .part(let range):
                    let encoder = HeadEncoder(canned.template)
                    let partial = encoder.partial(range, of: variant.body.count, entityTag: variant.entityTag, coding: coding)
                    return (206, stage(partial, variant.body, range, closing: closing, announcing: announcing))
                case .unsatisfiable:
                    let problem = ProblemDetails(status: 416, detail: "The range lies beyond the end.")
                    let response = problem.response(fields: [.contentRange: "bytes */\(variant.body.count)"])
                    let refusal = CannedResponse(response, compressionLevel: nil, route: nil)
                    return serve(refusal, hasBody: hasBody, closing: closing, announcing: announcing)
                }
            }
        }
        return (canned.status, stage(variant.head, hasBody ? variant.body : nil, closing: closing, announcing: announcing))
    }

    private func serve(_ canned: CannedResponse, hasBody: Bool, closing: Bool, announcing: Bool) -> (status: Int, bytes: Int) {
        let body = hasBody ? canned.identity.body : nil
        return (canned.status, stage(canned.identity.head, body, closing: closing, announcing: announcing))
    }

    private func stage(_ head: EncodedHead, _ body: [UInt8]?, _ range: Range<Int>? = nil, closing: Bool, announcing: Bool) -> Int {
        let start = lane.stage.count
        append(head, closing: closing, announcing: announcing)
        let headBytes = lane.stage.count - start
        guard let body else { return headBytes }
        let part = range ?? 0..<body.count
        append(body, part)
        return headBytes + part.count
    }

    func append(_ head: EncodedHead, closing: Bool, announcing: Bool) {
        let stage = lane.stage
        let start = stage.count
        stage.append(head.bytes)
        stage.replace(at: start + head.dateOffset, with: lane.date.current())
        if closing {
            stage.append("Connection: close\r\n\r\n")
        } else if announcing {
            stage.append("Connection: keep-alive\r\n\r\n")
        } else {
            stage.append("\r\n")
        }
    }
}

extension CannedResponse {
    /// 406 for who takes neither coding.
    static let notAcceptable: CannedResponse = {
        var response = ProblemDetails(status: 406, detail: "This can be had as it is and in gzip coding; neither is accepted.").response()
        response.isCompressible = true
        return CannedResponse(response, compressionLevel: nil, route: nil)
    }()

    /// 503 for who comes when there is no room.
    static let tooManyConnections = CannedResponse(
        ProblemDetails(status: 503, detail: "There are too many connections.").response(fields: [.retryAfter: "1"]), compressionLevel: nil,
        route: nil)

    static let preconditionFailed = CannedResponse(
        ProblemDetails(status: 412, detail: "A condition of the request is not met.").response(), compressionLevel: nil, route: nil)
}
