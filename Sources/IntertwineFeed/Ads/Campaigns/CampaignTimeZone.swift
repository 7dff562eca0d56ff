internal import Foundation
internal import IntertwinePrimitives

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
        } else if let seconds = ZoneOffset.seconds(of: name) {
            self.init(name: name, clocks: TimeZoneOffsets(seconds: seconds))
        } else if name.utf8.count <= 64, name.contains("/") || Self.plainNames.contains(name), let clocks = TimeZoneOffsets.named(name) {
            self.init(name: name, clocks: clocks)
        } else {
            return nil
        }
    }

    package static func == (one: CampaignTimeZone, other: CampaignTimeZone) -> Bool { one.name == other.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
