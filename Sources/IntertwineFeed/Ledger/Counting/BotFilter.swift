/// A filter that decides from the request alone whether an event counts.
package struct BotFilter: Sendable, Hashable {
    private static let early = SubstringMatcher(["prefetch", "prerender", "preview"])

    private static let askers = SubstringMatcher(["Chrome/", "Chromium/", "Firefox/"])

    private let bots: SubstringMatcher

    package init(_ names: RobotNames = RobotNames()) {
        bots = SubstringMatcher(names.robots, passing: names.people)
    }

    /// Networking libraries of apps, which come after the app's name.
    private static let apps = SubstringMatcher([
        "okhttp/", "CFNetwork/", "Dalvik/", "; Scale/", "Alamofire/", "Dart/", "Cronet/", "Electron/",
    ])

    /// The name of an app may contain that of a robot, as in `BloodPressureMonitor/1 CFNetwork/1485`. `node` is all that Node.js sends.
    package func isRobot(_ userAgent: String) -> Bool {
        guard bots.matches(userAgent) else { return userAgent == "node" }
        let userAgent = Self.withoutApps(Self.withoutPackages(Self.withoutModels(userAgent)))
        guard bots.matches(userAgent) else { return false }
        guard Self.apps.matches(userAgent), let end = userAgent.firstIndex(of: "/") else { return true }
        return bots.matches(String(userAgent[end...]))
    }

    /// The model of a device, which follows the version of Android in a comment, can be any word. Programs write a version or an address.
    private static func withoutModels(_ userAgent: String) -> String {
        var result = ""
        for (index, text) in userAgent.split(separator: "(", omittingEmptySubsequences: false).enumerated() {
            let comment = text[..<(index == 0 ? text.startIndex : text.firstIndex(of: ")") ?? text.endIndex)]
            let start = result.hasSuffix("Android (") ? text.startIndex : comment.firstRange(of: "Android")?.upperBound
            if let start, comment.firstRange(of: "compatible") == nil {
                let programs = comment[start...].split(separator: ";").filter { part in
                    part.contains("@") || part.contains("/") && part.firstRange(of: "Build/") == nil
                }
                result += text[..<start] + programs.joined(separator: ";") + text[comment.endIndex...]
            } else {
                result += text
            }
            result += "("
        }
        return String(result.dropLast())
    }

    /// An app on Electron has its name before that of the engine.
    private static func withoutApps(_ userAgent: String) -> String {
        guard let start = userAgent.firstRange(of: "like Gecko)")?.upperBound,
            let end = userAgent[start...].firstRange(of: " Chrome/"), userAgent[end.upperBound...].firstRange(of: " Electron/") != nil
        else { return userAgent }
        return String(userAgent[..<start] + userAgent[end.lowerBound...])
    }

    private static let domains: Set<Substring> = [
        "app", "at", "au", "be", "br", "ca", "ch", "cn", "co", "com", "cz", "de", "dev", "dk", "es", "eu", "fi", "fr", "in", "info", "io",
        "it", "jp", "kr", "me", "net", "nl", "no", "org", "pl", "pt", "ru", "se", "tr", "tv", "ua", "uk", "us",
    ]

    /// The package of an app, such as `com.acme.spider`, begins with its domain in reverse, and a robot's address ends with it.
    private static func withoutPackages(_ userAgent: String) -> String {
        var (result, end) = ("", userAgent.startIndex)
        for part in userAgent.split(whereSeparator: { " ();,/[]".contains($0) }) {
            let labels = part.lowercased().split(separator: ".", omittingEmptySubsequences: false)
            guard labels.count > 2, domains.contains(labels[0]), !["com", "org"].contains(labels[labels.count - 1]) else { continue }
            result += userAgent[end..<part.startIndex]
            end = part.endIndex
        }
        return result + userAgent[end...]
    }

    /// Only browsers that state it are judged: those with the engines Chromium and Gecko.
    package func verdict(
        userAgent: String?, purposes: [String] = [], isHead: Bool, isForeignSubresource: Bool = false, isUnasked: Bool = false
    ) -> Verdict {
        guard let userAgent, !userAgent.isEmpty, !isRobot(userAgent) else { return .bot }
        if isHead || purposes.contains(where: Self.early.matches) { return .prefetch }
        if isForeignSubresource { return .subresource }
        return isUnasked && Self.askers.matches(userAgent) ? .scripted : .counted
    }
}

private struct SubstringMatcher: Sendable, Hashable {
    private struct Word: Sendable, Hashable {
        let bytes: [UInt8]
        /// True for an excluded word, which is no match even if it contains another one.
        let isPassed: Bool
    }

    private let words: [Word]
    private let starts: [UInt16]

    init(_ words: [String], passing passed: [String] = []) {
        let folded =
            passed.map { Word(bytes: $0.utf8.map(Self.folded), isPassed: true) }
            + words.map { Word(bytes: $0.utf8.map(Self.folded), isPassed: false) }
        let buckets = Dictionary(grouping: folded.filter { $0.bytes.count > 1 }) { Self.bucket($0.bytes[0], $0.bytes[1]) }
        var (all, starts): ([Word], [UInt16]) = ([], [])
        for bucket in 0..<1024 {
            starts.append(UInt16(clamping: all.count))
            all += buckets[bucket] ?? []
        }
        (self.words, self.starts) = (all, starts + [UInt16(clamping: all.count)])
    }

    func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { text in
            var start = 0
            scan: while start + 1 < text.count {
                let bucket = Self.bucket(Self.folded(text[start]), Self.folded(text[start + 1]))
                for index in Int(starts[bucket])..<Int(starts[bucket + 1]) where Self.isWord(words[index].bytes, in: text, at: start) {
                    guard words[index].isPassed else { return true }
                    start += words[index].bytes.count
                    continue scan
                }
                start += 1
            }
            return false
        }
    }

    private static func bucket(_ first: UInt8, _ second: UInt8) -> Int { Int(first & 31) << 5 | Int(second & 31) }

    private static func isWord(_ word: [UInt8], in text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        guard text.count - start >= word.count else { return false }
        for index in word.indices where folded(text[start + index]) != word[index] { return false }
        return true
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}
