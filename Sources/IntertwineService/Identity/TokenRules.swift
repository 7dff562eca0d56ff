internal import FoundationEssentials
internal import IntertwinePrimitives

/// The conditions that a token's claims must meet, and the locations of the claims that identify its sender.
package struct TokenRules: Sendable {
    package struct Attribute: Sendable, Hashable {
        package var name: String
        package var path: ClaimPath

        package init(name: String, path: ClaimPath) {
            (self.name, self.path) = (name, path)
        }
    }

    package var algorithms: Set<SignatureAlgorithm> = Set(SignatureAlgorithm.allCases)
    var issuers: Set<String> = []
    /// If the set is empty, tokens with an audience are refused (RFC 7519 section 4.1.3).
    var audiences: Set<String> = []
    /// The accepted difference of clocks in milliseconds, for `exp` and `nbf`.
    var leeway: Int64 = 30_000
    package var subject: ClaimPath
    package var attributes: [Attribute] = []
    var roles: ClaimPath?
    var isSubject: @Sendable (String) -> Bool = { !$0.isEmpty }

    package init(subject: ClaimPath) {
        self.subject = subject
    }
}

/// The key that verified a token, for what outlives the request.
struct Revocation: Sendable, Hashable {
    let key: VerificationKey?

    var isEffective: Bool { key?.isRevoked ?? false }

    static func == (_: Revocation, _: Revocation) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

package struct VerifiedIdentity: Sendable, Hashable {
    package var subject: String
    package var attributes: [String] = []
    var roles: [String] = []
    var revocation = Revocation(key: nil)
    /// The end of the token's validity with leeway, in milliseconds since 1970-01-01 UTC.
    package var end = Int64.max

    var size: Int {
        var size = 64 + subject.utf8.count
        for text in attributes + roles { size += 32 + text.utf8.count }
        return size
    }
}

struct TokenClaims: DecodableWithConfiguration {
    /// It is more than targeting accepts, so that targeting can tell that there are too many.
    private static let maximumAttributes = 64

    let identity: VerifiedIdentity
    /// The start of the token's validity without leeway, in milliseconds since 1970-01-01 UTC; nil if it has none.
    private let start: Int64?

    init(_ payload: [UInt8], rules: TokenRules) throws(TokenError) {
        guard let used = try? JSONObject(payload, isLenient: true).selecting(rules.usedClaims), let value = try? JSONValue(json: used),
            value.hasUniqueNames
        else { throw .malformed }
        do {
            self = try JSONDecoder().decode(TokenClaims.self, from: Data(used), configuration: rules)
        } catch {
            throw (error as? TokenError) ?? .malformed
        }
    }

    init(from decoder: any Decoder, configuration rules: TokenRules) throws {
        let claims = try decoder.container(keyedBy: ClaimKey.self)
        guard let expiry = try Self.time("exp", in: claims) else { throw TokenError.missingExpiry }
        start = try Self.time("nbf", in: claims)

        let issuer = try claims.decodeIfPresent(String.self, forKey: ClaimKey(stringValue: "iss"))
        guard rules.issuers.isEmpty || issuer.map(rules.issuers.contains) ?? false else { throw TokenError.unexpectedIssuer }

        let key = ClaimKey(stringValue: "aud")
        let isNamed = claims.contains(key)
        let audiences = isNamed ? try (try? [claims.decode(String.self, forKey: key)]) ?? claims.decode([String].self, forKey: key) : []
        guard isNamed ? !rules.audiences.isDisjoint(with: audiences) : rules.audiences.isEmpty else { throw TokenError.unexpectedAudience }

        let subjects = claims.texts(at: rules.subject)
        guard subjects.count == 1, let subject = subjects.first, rules.isSubject(subject) else { throw TokenError.missingSubject }
        var identity = VerifiedIdentity(subject: subject)
        for attribute in rules.attributes {
            for value in claims.texts(at: attribute.path) where identity.attributes.count < Self.maximumAttributes {
                identity.attributes.append("\(attribute.name)=\(value)")
            }
        }
        // The times are at most 2^53, so the sum does not overflow.
        identity.end = expiry + rules.leeway
        // The length of a token limits the number of roles.
        identity.roles = rules.roles.map { claims.texts(at: $0) } ?? []
        self.identity = identity
    }

    func check(now: Int64, leeway: Int64) throws(TokenError) {
        guard now < identity.end else { throw .expired }
        guard now + leeway >= start ?? .min else { throw .notYetValid }
    }

    /// Returns the time of a claim in milliseconds (RFC 7519 section 2, NumericDate); nil if the claim is absent.
    private static func time(_ name: String, in claims: KeyedDecodingContainer<ClaimKey>) throws -> Int64? {
        guard let seconds = try claims.decodeIfPresent(Double.self, forKey: ClaimKey(stringValue: name)) else { return nil }
        guard seconds.isFinite, seconds >= 0 else { throw TokenError.malformed }
        return Int64(min(seconds * 1_000, 9_007_199_254_740_992))
    }
}

extension TokenRules {
    fileprivate var usedClaims: [ArraySlice<String>] {
        let paths = [subject] + attributes.map(\.path) + [roles].compactMap(\.self)
        return (["exp", "nbf", "aud"] + (issuers.isEmpty ? [] : ["iss"])).map { [$0] } + paths.map { $0.names[...] }
    }
}

extension JSONObject {
    /// Returns the members at these paths as they are written. Why: other claims are not read, so they may be no JSON that this service
    /// reads, such as a name with half of a surrogate pair.
    fileprivate func selecting(_ paths: [ArraySlice<String>]) throws(JSONError) -> [UInt8] {
        var selected: [[UInt8]] = []
        for member in members {
            let rests = paths.filter { path in path.first.map { matches(member.name, $0) } ?? false }.map { $0.dropFirst() }
            guard !rests.isEmpty else { continue }
            var value = Array(raw(member.value))
            if member.value.kind == .object { value = try JSONObject(value, isLenient: true).selecting(rests) }
            selected.append(raw(member.name) + [UInt8(ascii: ":")] + value)
        }
        return [UInt8(ascii: "{")] + selected.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
    }
}

extension JSONValue {
    /// True if no object has two members of one name (RFC 7519 section 4). The decoder would take the first of them, other recipients the
    /// last.
    fileprivate var hasUniqueNames: Bool {
        switch self {
        case .object(let members):
            var names: Set<String> = []
            return members.allSatisfy { names.insert($0.name).inserted && $0.value.hasUniqueNames }
        case .list(let values): return values.allSatisfy(\.hasUniqueNames)
        case .text, .integer, .number, .flag, .null: return true
        }
    }
}
