public import HTTPTypes
internal import IntertwinePrimitives

/// A response that is encoded except for its date: it holds heads and bodies for every way in which a request can be answered.
///
/// It is created once and served any number of times from any loop without allocation. The server chooses the coding, answers conditions
/// with 304 or 412, serves ranges, and omits the body for HEAD.
///
/// ```swift
/// let response = EncodedResponse(ServerResponse(status: .ok, body: Array("Hello".utf8)))
/// let result = HandlerResult.cached(response)
/// ```
public final class EncodedResponse: Sendable {
    /// One coding of the content.
    struct Variant: Sendable {
        let head: [UInt8]
        /// The head of 304. It is nil if the response is not cached, because few of these are served again; the head is then made on request.
        let notModified: [UInt8]?
        let entityTag: [UInt8]?
        let body: ResponseBody
    }

    let status: Int
    let identity: Variant
    /// The elements of `Vary`.
    let vary: [UInt8]
    private let gzip: Variant?
    /// True if the coding is chosen by Accept-Encoding.
    private let isNegotiated: Bool
    private let acceptsRanges: Bool
    private let lastModified: Int64?
    /// The fields that similar responses share. The response's own field is separate.
    private let common: ServerResponse
    private let field: HTTPField?
    let closesConnection: Bool
    /// The name of the route in logs and metrics.
    public let route: String?

    /// Encodes a response.
    ///
    /// ```swift
    /// var response = ServerResponse(body: String(repeating: "Hello ", count: 1_000))
    /// response.isCompressible = true
    /// let encoded = EncodedResponse(response, compressionLevel: 9, route: "hello")
    /// encoded.size  // the bytes of both codings
    /// ```
    ///
    /// - Parameters:
    ///   - response: A response whose body consists of bytes or a file. The body of a streamed response is treated as empty.
    ///   - compressionLevel: 1 to 9, used if the response is compressible. Compression runs here, on the caller's thread.
    ///   - route: The name of the route in logs and metrics.
    public convenience init(_ response: ServerResponse, compressionLevel: Int = 6, route: String? = nil) {
        self.init(response, compressionLevel: response.isCompressible ? compressionLevel : nil, route: route)
    }

    /// Encodes a response.
    ///
    /// - Parameter compressionLevel: The level from 1 to 9; nil for no gzip variant, if no client will request it.
    public init(_ response: ServerResponse, compressionLevel: Int?, route: String?) {
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

    /// Encodes one of many responses with a shared head template.
    ///
    /// ```swift
    /// let head = ResponseHeadTemplate(ServerResponse(status: .ok, fields: [.contentType: "application/json"]))
    /// let response = EncodedResponse(
    ///     Array("{}".utf8), head, field: nil, entityTag: Array("\"a1\"".utf8), compressionLevel: nil, isCached: true, route: "item")
    /// ```
    ///
    /// - Parameters:
    ///   - common: The shared part of the heads.
    ///   - field: A field that differs between these responses.
    ///   - entityTag: The entity tag with its quotes.
    ///   - compressionLevel: The level from 1 to 9; nil for no gzip variant.
    ///   - isCached: True if the response will be served more than once.
    public init(
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

    /// The response without its body and entity tag, for encoding other heads.
    fileprivate var template: ServerResponse {
        var template = common
        if let field { template.fields.append(field) }
        return template
    }

    /// Returns the head of 304 for a variant.
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
    public var size: Int { identity.body.count + (gzip?.body.count ?? 0) }
}

extension EncodedResponse {
    /// The head and body that are selected for one request.
    struct NegotiatedVariant {
        let status: Int
        let head: [UInt8]
        /// The body, nil if the response has none.
        let body: ResponseBody?
        /// The requested range of the body.
        let part: Range<Int>

        init(_ status: Int, _ head: [UInt8], _ body: ResponseBody?, _ part: Range<Int>? = nil) {
            (self.status, self.head, self.body) = (status, head, body)
            self.part = part ?? 0..<(body?.count ?? 0)
        }
    }

    /// Selects the head and body for a request. A HEAD request receives the head that GET would.
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

    /// Returns a refusal in place of the response. It varies as the response does.
    private func refusal(_ status: Int, _ detail: String, fields: HTTPFields = [:]) -> NegotiatedVariant {
        let response = Problem(HTTPResponse.Status(code: status), nil, detail, fields: fields).refusal()
        let refusal = EncodedResponse(response, compressionLevel: nil, route: nil).identity
        return NegotiatedVariant(status, refusal.head, refusal.body)
    }
}

extension ServerResponse {
    /// Creates a response that can be read and changed from an encoded one.
    ///
    /// ```swift
    /// let encoded = EncodedResponse(ServerResponse(body: "Hello"))
    /// var response = ServerResponse(decoding: encoded)
    /// response.fields[.cacheControl] = "no-store"
    /// ```
    public init(decoding encoded: EncodedResponse) {
        self = encoded.template
        body = .content(encoded.identity.body)
        entityTag = encoded.identity.entityTag.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A head that many responses share, encoded once: the status 200, and all fields that do not differ between these responses.
public struct ResponseHeadTemplate: Sendable {
    let response: ServerResponse
    /// The head of the content, up to the fields that differ.
    let content: [UInt8]
    let notModified: [UInt8]
    /// The elements of `Vary`.
    let vary: [UInt8]

    /// Encodes the shared head.
    ///
    /// - Parameter response: A response without body, entity tag, ranges and modification date.
    public init(_ response: ServerResponse) {
        self.response = response
        let encoder = HeadEncoder(response)
        content = encoder.head(length: nil, entityTag: nil, coding: nil)
        notModified = encoder.notModified(entityTag: nil)
        vary = encoder.vary
    }
}
