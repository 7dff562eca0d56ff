internal import Foundation
internal import IntertwineFeed
internal import IntertwineFetch

extension SourceReader {
    /// `Accept-Language: en`, `Authorization: {env: CATALOGUE_TOKEN}`, `X-Key: {file: /run/secrets/key}`.
    func headers(_ place: YAMLPlace) throws(ConfigurationError) -> FetchHeaders {
        var headers = FetchHeaders()
        for (name, place) in try place.members("each field's name with its value") {
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else { throw place.notAllowed(name, "a header field's name") }
            guard !Self.taken.contains(name.lowercased()) else { throw place.fault("\(name) is set by the service itself") }
            let value = try headerValue(place)
            guard !value.isEmpty, value.utf8.count <= 8_192, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw place.fault("the value of \(name) must be 1 to 8192 visible ASCII characters")
            }
            headers.append(name, value)
        }
        return headers
    }

    /// What belongs to the way a page is asked for, and not to the source.
    private static let taken: Set<String> = [
        "host", "connection", "content-length", "transfer-encoding", "accept-encoding", "if-none-match", "if-modified-since", "range",
        "expect", "upgrade", "te", "trailer",
    ]

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private func headerValue(_ place: YAMLPlace) throws(ConfigurationError) -> String {
        guard place.isMapping else { return try place.text("the field's value") }
        let members = try place.members(of: "a field's value", among: ["env", "file"])
        switch (members["env"], members["file"]) {
        case (let name?, nil):
            let variable = try name.text("an environment variable's name")
            guard !variable.hasPrefix(SettingName.environmentPrefix) else {
                throw name.fault("\(variable) would be read as a setting; the name must not begin with \(SettingName.environmentPrefix)")
            }
            guard let value = environment[variable], !value.isEmpty else { throw name.fault("the environment has no \(variable)") }
            return value
        case (nil, let file?):
            let path = try file.text("a file's path")
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { throw file.fault("\(path) cannot be read") }
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        default: throw place.fault("a field's value is a text, {env: variable} or {file: path}")
        }
    }

    func duration(_ place: YAMLPlace, from least: Duration, to most: Duration) throws(ConfigurationError) -> Duration {
        let allowed = "\(Duration.allowed), from \(least.setting) to \(most.setting)"
        let text = try place.text(allowed)
        guard let duration = Duration(setting: text), (least...most).contains(duration) else { throw place.notAllowed(text, allowed) }
        return duration
    }

    func share(_ place: YAMLPlace) throws(ConfigurationError) -> Double {
        let share = try place.number("a share from 0 to 1")
        guard (0...1).contains(share) else { throw place.notAllowed(String(share), "a share from 0 to 1") }
        return share
    }

    func count(_ place: YAMLPlace, upTo most: Int) throws(ConfigurationError) -> Int {
        let allowed = "a whole number from 1 to \(most)"
        let text = try place.text(allowed)
        guard let count = Int(text), (1...most).contains(count) else { throw place.notAllowed(text, allowed) }
        return count
    }

    func bytes(_ place: YAMLPlace) throws(ConfigurationError) -> Int {
        let allowed = "\(ByteCount.allowed), at least 1"
        let text = try place.text(allowed)
        guard let count = ByteCount(setting: text), count.bytes > 0 else { throw place.notAllowed(text, allowed) }
        return count.bytes
    }
}
