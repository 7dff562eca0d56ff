internal import Foundation
internal import IntertwineFeed
internal import IntertwinePrimitives

package struct ItemSummary: Sendable, Hashable {
    private static let titles = ["title", "username", "name", "headline", "label", "text", "alternativeText", "advertiser"]
    private static let wordLimit = 400
    private static let wordLength = 64

    package private(set) var title = ""
    package private(set) var picture: String?
    private var texts: [String] = []
    private var pictures: [String] = []

    package init(_ body: [UInt8]) {
        guard let object = try? JSONObject(body) else { return }
        var found: [String: String] = [:]
        for (name, value) in object.members {
            let name = String(decoding: object.characters(of: name), as: UTF8.self)
            let first = texts.count
            visit(object.bytes, value, named: name)
            if texts.count > first { found[name] = texts[first] }
        }
        title = Self.titles.lazy.compactMap { found[$0] }.first ?? texts.first ?? ""
    }

    private mutating func visit(_ bytes: [UInt8], _ value: JSONToken, named name: String) {
        switch value.kind {
        case .string:
            let characters = value.isEscaped ? JSONText.unescaped(bytes.span, value.range)[...] : bytes[value.range]
            let text = String(decoding: characters, as: UTF8.self)
            guard !text.hasPrefix("http://"), !text.hasPrefix("https://") else {
                if Self.isPicture(name), !Self.media.contains(where: text.prefix(while: { $0 != "?" }).hasSuffix) {
                    picture = picture ?? text
                    pictures.append(text)
                }
                return
            }
            // The type of a medium is no text.
            if !text.isEmpty, !name.hasSuffix("Type") { texts.append(text) }
        case .object:
            guard let object = try? JSONObject(Array(bytes[value.range])) else { return }
            for member in object.members {
                visit(object.bytes, member.value, named: name + String(decoding: object.characters(of: member.name), as: UTF8.self))
            }
        case .array:
            guard let list = try? JSONArray(Array(bytes[value.range])) else { return }
            for element in list.elements { visit(list.bytes, element, named: name) }
        case .number, .boolean, .null, .invalid: break
        }
    }

    private static let media = [".mp4", ".webm", ".m4v", ".mov", ".mp3", ".m4a", ".ogg", ".wav", ".m3u8"]

    private static func isPicture(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["picture", "image", "avatar", "poster", "photo", "content", "background", "logo", "cover", "thumbnail"].contains(
            where: name.contains)
    }

    // MARK: Search

    package static func words(_ text: String) -> [String] {
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        let folded =
            isASCII ? text.lowercased() : text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
        return (isASCII ? folded : withoutOptionalMarks(folded)).unicodeScalars.split { !isPart($0) }.map {
            String(String.UnicodeScalarView($0.prefix(wordLength)))
        }
    }

    /// The signs of vowels of many scripts are marks, so a mark is a part of a word. The index of SQLite has the same categories.
    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
            .otherNumber, .nonspacingMark, .spacingMark:
            true
        default: false
        }
    }

    /// Removes accents, and the signs of vowels and the tatweel that Hebrew and Arabic texts may omit.
    private static func withoutOptionalMarks(_ text: String) -> String {
        let scalars = text.decomposedStringWithCanonicalMapping.unicodeScalars.filter { scalar in
            switch scalar.value {
            case 0x0300...0x036F, 0x0591...0x05C7, 0x0610...0x061A, 0x064B...0x065F, 0x0670, 0x06D6...0x06ED:
                scalar.properties.generalCategory != .nonspacingMark
            default: scalar.value != 0x0640
            }
        }
        return String(String.UnicodeScalarView(scalars)).precomposedStringWithCanonicalMapping
    }

    /// The words of the texts, the kind and the id, separated by spaces, with ``filter(_:_:)`` of the kind and the state.
    func words(_ key: ItemKey, _ state: ItemState) -> String {
        var words = [Self.filter("kind", key.kind), Self.filter("state", state.rawValue)] + pictures.map(Self.filter(picture:))
        for text in [key.kind, key.id] + texts where words.count < Self.wordLimit { words += Self.words(text) }
        return words.joined(separator: " ")
    }

    /// A word that the search of no text finds, because words begin with a letter or digit: it finds all items of a kind or a state.
    static func filter(_ name: String, _ value: String) -> String { ":\(name):\(value)" }

    /// A digest, because a URL has characters that words have not.
    static func filter(picture url: String) -> String {
        let url = (try? WebURL.absolute(url)) ?? url
        return filter("picture", Hexadecimal.text(SHA256.hash(data: Array(url.utf8)).prefix(12)))
    }

    var sortKey: String {
        String(String.UnicodeScalarView(Self.words(title).joined(separator: " ").unicodeScalars.prefix(Self.wordLength)))
    }
}

package enum ItemState: String, Sendable, CaseIterable {
    case `public`
    case takenDown = "taken-down"
}
