package import HTTPTypes
internal import IntertwinePrimitives

/// A response that is encoded except for its date: it holds heads and bodies for every way in which a request can be answered.
package final class EncodedResponse: Sendable {
    struct Variant: Sendable {
        let head: [UInt8]
        /// It is nil if the response is not cached, because few of these are served again; the head is then made on request.
        let notModified: [UInt8]?
        let entityTag: [UInt8]?
        let body: ResponseBody
    }

    let status: Int
    let identity: Variant
    let vary: [UInt8]
    private let gzip: Variant?
    private let isNegotiated: Bool
    private let acceptsRanges: Bool
    private let lastModified: Int64?
    private let common: ServerResponse
    private let field: HTTPField?
    let closesConnection: Bool
    package let route: String?

    package convenience init(_ response: ServerResponse, compressionLevel: Int = 6, route: String? = nil) {
        self.init(response, compressionLevel: response.isCompressible ? compressionLevel : nil, route: route)
    }

    package init(_ response: ServerResponse, compressionLevel: Int?, route: String?) {
        let body: ResponseBody = if case .content(let content) = response.body { content } else { .bytes([]) }
        let isSuccess = response.status.code == 200
        var template = response
        template.body = .content(.bytes([]))
        // A date in the future is not sent (RFC 9110, 8.8.2.1); conditional requests are then compared with the date that was sent.
        template.lastModified = response.lastModified.map { min($0, WallClock.coarse() / 1_000) }
        let encoder = HeadEncoder(template)
        self.vary = encoder.vary
        self.status = response.status.code
        self.common = template
        self.field = nil
        self.route = route
        self.closesConnection = response.closesConnection
        self.isNegotiated = response.isCompressible
        self.acceptsRanges = response.acceptsRanges && isSuccess
        self.lastModified = template.lastModified
        let tag = response.entityTag.map { Array($0.utf8) }
        self.identity = Variant(
            head: encoder.head(length: body.count, entityTag: tag, coding: nil),
            // Conditions are evaluated for status 200 only.
            notModified: isSuccess ? encoder.notModified(entityTag: tag) : [],
            entityTag: tag, body: body)
        let level = compressionLevel.map { Int32(min(max($0, 1), 9)) }
        if let level, response.isCompressible, case .bytes(let bytes) = body, let coded = Gzip.compress(bytes, level: level) {
            // Each representation has a separate entity tag.
            let codedTag = tag.map(Self.coded)
            self.gzip = Variant(
                head: encoder.head(length: coded.count, entityTag: codedTag, coding: "gzip"),
                notModified: encoder.notModified(entityTag: codedTag), entityTag: codedTag, body: .bytes(coded))
        } else {
            self.gzip = nil
        }
    }

    package init(
        _ body: [UInt8], _ common: ResponseHeadTemplate, field: HTTPField?, entityTag: [UInt8], compressionLevel: Int?, isCached: Bool,
        route: String?
    ) {
        func variant(_ body: [UInt8], _ tag: [UInt8], coding: String?) -> Variant {
            Variant(
                head: HeadEncoder.head(common.content, field: field, entityTag: tag, content: (body.count, coding)),
                notModified: isCached ? HeadEncoder.head(common.notModified, field: field, entityTag: tag, content: nil) : nil,
                entityTag: tag, body: .bytes(body))
        }
        status = common.response.status.code
        vary = common.vary
        self.common = common.response
        self.field = field
        self.route = route
        closesConnection = common.response.closesConnection
        isNegotiated = common.response.isCompressible
        acceptsRanges = false
        lastModified = nil
        identity = variant(body, entityTag, coding: nil)
        let level = common.response.isCompressible ? compressionLevel.map { Int32(min(max($0, 1), 9)) } : nil
        gzip = level.flatMap { Gzip.compress(body, level: $0) }.map { variant($0, Self.coded(entityTag), coding: "gzip") }
    }

    fileprivate var template: ServerResponse {
        var template = common
        if let field { template.fields.append(field) }
        return template
    }

    private func notModified(_ variant: Variant) -> [UInt8] {
        variant.notModified ?? HeadEncoder(template).notModified(entityTag: variant.entityTag)
    }

    private static func coded(_ tag: [UInt8]) -> [UInt8] {
        guard tag.last == .quote else { return tag }
        let mark: StaticString = "-gz\""
        var coded: [UInt8] = []
        coded.reserveCapacity(tag.count - 1 + mark.utf8CodeUnitCount)
        coded += tag[..<(tag.count - 1)]
        coded += UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount)
        return coded
    }

    /// The memory of the bodies in bytes.
    package var size: Int { identity.body.count + (gzip?.body.count ?? 0) }
}

extension EncodedResponse {
    struct NegotiatedVariant {
        let status: Int
        let head: [UInt8]
        let body: ResponseBody?
        let part: Range<Int>

        init(_ status: Int, _ head: [UInt8], _ body: ResponseBody?, _ part: Range<Int>? = nil) {
            (self.status, self.head, self.body) = (status, head, body)
            self.part = part ?? 0..<(body?.count ?? 0)
        }
    }

    /// A HEAD request receives the head that GET would.
    func selection(for head: borrowing RequestHead) -> NegotiatedVariant {
        // Most requests have no selecting field, so this path reads only the members that it returns.
        guard head.parser.seen & KnownField.selectors != 0, status == 200 else {
            return NegotiatedVariant(status, identity.head, identity.body)
        }
        var variant = identity
        var coding: String?
        if isNegotiated, head.has(.acceptEncoding) {
            switch head.coding(hasGzip: gzip != nil) {
            case .identity: break
            case .gzip:
                if let gzip {
                    variant = gzip
                    coding = "gzip"
                }
            case nil:
                return refusal(406, "Available content codings: identity, gzip.")
            }
        }
        if head.method == .get || head.method == .head {
            switch head.conditions(entityTag: variant.entityTag, lastModified: lastModified) {
            case .met: break
            case .notModified: return NegotiatedVariant(304, notModified(variant), nil)
            case .failed: return refusal(412, "A precondition of the request failed.")
            }
            if acceptsRanges, head.method == .get, head.has(.range),
                head.allowsRange(entityTag: variant.entityTag, lastModified: lastModified)
            {
                switch ByteRange(head.value(of: .range), length: variant.body.count) {
                case .ignored: break
                case .part(let range):
                    let encoder = HeadEncoder(template)
                    let partial = encoder.partial(range, of: variant.body.count, entityTag: variant.entityTag, coding: coding)
                    return NegotiatedVariant(206, partial, variant.body, range)
                case .unsatisfiable:
                    return refusal(
                        416, "The range is beyond the end of the content.", fields: [.contentRange: "bytes */\(variant.body.count)"])
                }
            }
        }
        return NegotiatedVariant(status, variant.head, variant.body)
    }

    private func refusal(_ status: Int, _ detail: String, fields: HTTPFields = [:]) -> NegotiatedVariant {
        let response = Problem(HTTPResponse.Status(code: status), nil, detail, fields: fields).refusal()
        let refusal = EncodedResponse(response, compressionLevel: nil, route: nil).identity
        return NegotiatedVariant(status, refusal.head, refusal.body)
    }
}

extension ServerResponse {
    package init(decoding encoded: EncodedResponse) {
        self = encoded.template
        body = .content(encoded.identity.body)
        entityTag = encoded.identity.entityTag.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A head that many responses share, encoded once: the status 200, and all fields that do not differ between these responses.
package struct ResponseHeadTemplate: Sendable {
    let response: ServerResponse
    let content: [UInt8]
    let notModified: [UInt8]
    let vary: [UInt8]

    package init(_ response: ServerResponse) {
        self.response = response
        let encoder = HeadEncoder(response)
        content = encoder.head(length: nil, entityTag: nil, coding: nil)
        notModified = encoder.notModified(entityTag: nil)
        vary = encoder.vary
    }
}
