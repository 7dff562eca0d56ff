public import HTTPTypes
internal import IntertwinePrimitives

/// An answer that is finished but for its date: heads and bodies lie ready for every turn a request can take.
///
/// Made once, served any number of times from any loop without allocating. The server picks the coding, answers conditions
/// with 304 or 412, cuts ranges, and leaves the body out for HEAD.
public final class EncodedResponse: Sendable {
    /// One coding of the content.
    struct Variant: Sendable {
        let head: [UInt8]
        /// Nil where it is made when somebody gets it, as few answers are served more than once.
        let notModified: [UInt8]?
        let entityTag: [UInt8]?
        let body: ResponseBody
    }

    let status: Int
    let identity: Variant
    private let gzip: Variant?
    /// Whether the coding is chosen by Accept-Encoding.
    private let isNegotiated: Bool
    private let acceptsRanges: Bool
    private let lastModified: Int64?
    /// What answers like this one have in common, and the field that is its own.
    private let common: ServerResponse
    private let field: HTTPField?
    let closesConnection: Bool
    /// The name of the route in observations.
    public let route: String?

    /// - Parameters:
    ///   - response: an answer with a body of bytes, or in a file. The body of a streamed one is taken to be empty.
    ///   - compressionLevel: 1 to 9, where the answer is compressible. Compressing happens here, on the caller's thread.
    ///   - route: the name of the route in observations.
    public convenience init(_ response: ServerResponse, compressionLevel: Int = 6, route: String? = nil) {
        self.init(response, compressionLevel: response.isCompressible ? compressionLevel : nil, route: route)
    }

    /// - Parameter compressionLevel: nil where there is to be no gzip variant, because nobody will ask for it.
    public init(_ response: ServerResponse, compressionLevel: Int?, route: String?) {
        let body: ResponseBody = if case .content(let content) = response.body { content } else { .bytes([]) }
        let isSuccess = response.status.code == 200
        var template = response
        template.body = .content(.bytes([]))
        // A date that is still to come is not told (RFC 9110, 8.8.2.1); what comes back is then held against the one that was.
        template.lastModified = response.lastModified.map { min($0, WallClock.coarse() / 1_000) }
        let encoder = HeadEncoder(template)
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
            // Conditions are evaluated for 200 alone.
            notModified: isSuccess ? encoder.notModified(entityTag: tag) : [],
            entityTag: tag, body: body)
        let level = compressionLevel.map { Int32(min(max($0, 1), 9)) }
        if let level, response.isCompressible, case .bytes(let bytes) = body, let coded = Gzip.compress(bytes, level: level) {
            // A representation of its own has a tag of its own.
            let codedTag = tag.map(Self.coded)
            self.gzip = Variant(
                head: encoder.head(length: coded.count, entityTag: codedTag, coding: "gzip"),
                notModified: encoder.notModified(entityTag: codedTag), entityTag: codedTag, body: .bytes(coded))
        } else {
            self.gzip = nil
        }
    }

    /// One of many answers whose heads are mostly the same.
    ///
    /// - Parameters:
    ///   - common: what they have in common.
    ///   - field: one that differs from answer to answer.
    ///   - entityTag: with its quotes.
    ///   - compressionLevel: nil where there is to be no gzip variant.
    ///   - isKept: whether it will be served more than once.
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

    private init(_ other: EncodedResponse, template: ServerResponse) {
        let encoder = HeadEncoder(template)
        func rewritten(_ variant: Variant, coding: String?) -> Variant {
            Variant(
                head: encoder.head(length: variant.body.count, entityTag: variant.entityTag, coding: coding),
                notModified: encoder.notModified(entityTag: variant.entityTag), entityTag: variant.entityTag, body: variant.body)
        }
        status = other.status
        identity = rewritten(other.identity, coding: nil)
        gzip = other.gzip.map { rewritten($0, coding: "gzip") }
        isNegotiated = other.isNegotiated
        acceptsRanges = other.acceptsRanges
        lastModified = other.lastModified
        common = template
        field = nil
        closesConnection = other.closesConnection
        route = other.route
    }

    /// The same answer with more fields, sharing its bodies. One that stands there already, with the same value, is not added again.
    public func adding(_ fields: HTTPFields) -> EncodedResponse {
        let template = template
        let added = template.adding(fields)
        return added.fields == template.fields ? self : EncodedResponse(self, template: added)
    }

    /// The answer as it was before it was finished, for whoever wants to read or change it.
    public var response: ServerResponse {
        var response = template
        response.body = .content(identity.body)
        response.entityTag = identity.entityTag.map { String(decoding: $0, as: UTF8.self) }
        return response
    }

    /// The response without its body, to make other heads from.
    private var template: ServerResponse {
        var template = common
        if let field { template.fields.append(field) }
        return template
    }

    /// The head of 304 in place of a variant.
    private func notModified(_ variant: Variant) -> [UInt8] {
        variant.notModified ?? HeadEncoder(template).notModified(entityTag: variant.entityTag)
    }

    private static func coded(_ tag: [UInt8]) -> [UInt8] { tag.last == .quote ? tag.dropLast() + Array("-gz\"".utf8) : tag }

    /// Bytes of memory that the bodies take.
    public var size: Int { identity.body.count + (gzip?.body.count ?? 0) }
}

extension EncodedResponse {
    /// What one request gets of it.
    struct NegotiatedVariant {
        let status: Int
        let head: [UInt8]
        /// Nil where there is none.
        let body: ResponseBody?
        /// The part of the body that is wanted.
        let part: Range<Int>

        init(_ status: Int, _ head: [UInt8], _ body: ResponseBody?, _ part: Range<Int>? = nil) {
            (self.status, self.head, self.body) = (status, head, body)
            self.part = part ?? 0..<(body?.count ?? 0)
        }
    }

    /// The form that a request asks for. Whoever asks by HEAD is sent the head of it.
    func selection(for head: borrowing RequestHead) -> NegotiatedVariant {
        // Most requests choose nothing: no more of the answer is looked at than what they get.
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
                return refusal(406, "This can be had as it is and in gzip coding; neither is accepted.")
            }
        }
        if head.method == .get || head.method == .head {
            switch head.conditions(entityTag: variant.entityTag, lastModified: lastModified) {
            case .met: break
            case .notModified: return NegotiatedVariant(304, notModified(variant), nil)
            case .failed: return refusal(412, "A condition of the request is not met.")
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
                    return refusal(416, "The range lies beyond the end.", fields: [.contentRange: "bytes */\(variant.body.count)"])
                }
            }
        }
        return NegotiatedVariant(status, variant.head, variant.body)
    }

    /// A refusal in place of the answer, to those who may see the answer.
    private func refusal(_ status: Int, _ detail: String, fields: HTTPFields = [:]) -> NegotiatedVariant {
        var response = ProblemDetails(status: status, detail: detail).response(fields: fields)
        response.isCompressible = isNegotiated
        response = response.adding(HTTPFields(template.fields.filter(\.isOfCrossOrigin)))
        let refusal = EncodedResponse(response, compressionLevel: nil, route: nil).identity
        return NegotiatedVariant(status, refusal.head, refusal.body)
    }
}

extension HTTPField {
    /// What an answer says of who may see it (Fetch standard, 3.2), and what it varies by: the same for a refusal in its place.
    fileprivate var isOfCrossOrigin: Bool { name == .vary || name.canonicalName.hasPrefix("access-control-") }
}

/// What the heads of many answers have in common, written once: status 200, and all fields that do not differ from one to the next.
public struct ResponseHeadTemplate: Sendable {
    let response: ServerResponse
    /// As far as the fields that differ.
    let content: [UInt8]
    let notModified: [UInt8]

    /// - Parameter response: without a body, a tag, ranges or a time of its last change.
    public init(_ response: ServerResponse) {
        self.response = response
        let encoder = HeadEncoder(response)
        content = encoder.head(length: nil, entityTag: nil, coding: nil)
        notModified = encoder.notModified(entityTag: nil)
    }
}
