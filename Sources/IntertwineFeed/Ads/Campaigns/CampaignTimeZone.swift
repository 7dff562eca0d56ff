internal import Foundation

/// The time zone of a campaign's days and hours: a zone of the IANA database, such as `Europe/Berlin`, or a fixed offset, such as `+02:00`.
package struct CampaignTimeZone: Sendable, Hashable {
    static let utc = CampaignTimeZone(name: "UTC", clocks: TimeZoneOffsets(seconds: 0))
    static let allowed = "UTC, an offset such as +02:00, or a zone of the IANA database such as Europe/Berlin"

    private static let plainNames: Set<String> = [
        "CET", "CST6CDT", "Cuba", "EET", "EST", "EST5EDT", "Egypt", "Eire", "GB", "GB-Eire", "GMT", "GMT0", "Greenwich", "HST", "Hongkong",
        "Iceland", "Iran", "Israel", "Jamaica", "Japan", "Kwajalein", "Libya", "MET", "MST", "MST7MDT", "NZ", "NZ-CHAT", "Navajo", "PRC",
        "PST8PDT", "Poland", "Portugal", "ROC", "ROK", "Singapore", "Turkey", "UCT", "Universal", "W-SU", "WET", "Zulu",
    ]

    package let name: String
    let clocks: TimeZoneOffsets

    private init(name: String, clocks: TimeZoneOffsets) {
        (self.name, self.clocks) = (name, clocks)
    }

    package init?(_ name: String) {
        if name == "UTC" || name == "Z" {
            self = .utc
        } else if let seconds = Self.offset(name) {
            self.init(name: name, clocks: TimeZoneOffsets(seconds: seconds))
        } else if name.utf8.count <= 64, name.contains("/") || Self.plainNames.contains(name), let clocks = TimeZoneOffsets.named(name) {
            self.init(name: name, clocks: clocks)
        } else {
            return nil
        }
    }

    package static func == (one: CampaignTimeZone, other: CampaignTimeZone) -> Bool { one.name == other.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    static func offset(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 6, bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "-"), bytes[3] == UInt8(ascii: ":"),
            [1, 2, 4, 5].allSatisfy({ (0x30...0x39).contains(bytes[$0]) }),
            let hours = Int64(text.dropFirst().prefix(2)), let minutes = Int64(text.suffix(2)), (0...14).contains(hours),
            [0, 15, 30, 45].contains(minutes)
        else { return nil }
        return (bytes[0] == UInt8(ascii: "-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }
}
