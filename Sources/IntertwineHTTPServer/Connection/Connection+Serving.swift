internal import HTTPTypes

extension Connection {
    /// Stages a finished answer in the form this request asks for.
    ///
    /// - Returns: the status and the number of bytes.
    func serve(_ finished: FinishedResponse, _ head: borrowing RequestHead, closing: Bool, announcing: Bool) -> (status: Int, bytes: Int) {
        let hasBody = head.method != .head
        let seen = head.parser.seen
        var variant = finished.identity
        var coding: String?
        if finished.isNegotiated, seen & KnownField.acceptEncoding.bit != 0, finished.status == 200 {
            switch head.acceptedCodings.choose(hasGzip: finished.gzip != nil) {
            case .identity: break
            case .gzip:
                if let gzip = finished.gzip {
                    variant = gzip
                    coding = "gzip"
                }
            case .notAcceptable:
                return refuse(
                    406, "This can be had as it is and in gzip coding; neither is accepted.", finished, hasBody: hasBody, closing: closing,
                    announcing: announcing)
            }
        }
        if seen & KnownField.selectors != 0, finished.status == 200, head.method == .get || head.method == .head {
            switch Conditions.evaluate(head, entityTag: variant.entityTag, lastModified: finished.lastModified) {
            case .met: break
            case .notModified:
                return (304, stage(finished.notModified(variant), nil, closing: closing, announcing: announcing))
            case .failed:
                return refuse(
                    412, "A condition of the request is not met.", finished, hasBody: hasBody, closing: closing, announcing: announcing)
            }
            if finished.acceptsRanges, head.method == .get, seen & KnownField.range.bit != 0,
                Conditions.allowRange(head, entityTag: variant.entityTag, lastModified: finished.lastModified)
            {
                switch ByteRange(head.parser.value(of: .range, in: head.bytes), length: variant.body.count) {
                case .ignored: break
                case .part(let range):
                    let encoder = HeadEncoder(finished.template)
                    let partial = encoder.partial(range, of: variant.body.count, entityTag: variant.entityTag, coding: coding)
                    return (206, stage(partial, variant.body, range, closing: closing, announcing: announcing))
                case .unsatisfiable:
                    return refuse(
                        416, "The range lies beyond the end.", fields: [.contentRange: "bytes */\(variant.body.count)"], finished,
                        hasBody: hasBody, closing: closing, announcing: announcing)
                }
            }
        }
        return (finished.status, stage(variant.head, hasBody ? variant.body : nil, closing: closing, announcing: announcing))
    }

    /// Stages a refusal in place of an answer, to those who may see the answer.
    private func refuse(
        _ status: Int, _ detail: String, fields: HTTPFields = [:], _ finished: FinishedResponse, hasBody: Bool, closing: Bool,
        announcing: Bool
    ) -> (status: Int, bytes: Int) {
        var response = ProblemDetails(status: status, detail: detail).response(fields: fields)
        response.isCompressible = finished.isNegotiated
        response = response.adding(HTTPFields(finished.template.fields.filter(\.isOfCrossOrigin)))
        let refusal = FinishedResponse(response, compressionLevel: nil, route: nil).identity
        return (status, stage(refusal.head, hasBody ? refusal.body : nil, closing: closing, announcing: announcing))
    }

    private func stage(_ head: EncodedHead, _ body: [UInt8]?, _ range: Range<Int>? = nil, closing: Bool, announcing: Bool) -> Int {
        let start = worker.stage.count
        append(head, closing: closing, announcing: announcing)
        let headBytes = worker.stage.count - start
        guard let body else { return headBytes }
        let part = range ?? 0..<body.count
        append(body, part)
        return headBytes + part.count
    }

    /// Puts a head behind what is staged. The worker's `requestID` tells the request's name by then.
    func append(_ head: EncodedHead, closing: Bool, announcing: Bool) {
        let stage = worker.stage
        let start = stage.count
        stage.append(head.bytes)
        stage.replace(at: start + head.dateOffset, with: worker.date.current())
        stage.append(worker.requestID.bytes)
        if closing {
            stage.append("Connection: close\r\n\r\n")
        } else if announcing {
            stage.append("Connection: keep-alive\r\n\r\n")
        } else {
            stage.append("\r\n")
        }
    }
}

extension HTTPField {
    /// What an answer says of who may see it (Fetch standard, 3.2), and what it varies by: the same for a refusal in its place.
    fileprivate var isOfCrossOrigin: Bool { name == .vary || name.canonicalName.hasPrefix("access-control-") }
}
