/// Recognises programs that say that they are not a person.
///
/// A user agent is a claim, and this list only takes programs at their word: crawlers, previewers, monitors. Libraries and tools such as
/// curl are not on it, for people and their apps use those too.
enum KnownBots {
    private static let words = [
        "bot", "crawler", "spider", "slurp", "preview", "facebookexternalhit", "facebookcatalog", "embedly", "quora link", "pinterest/0.",
        "whatsapp/", "skypeuripreview", "headlesschrome", "phantomjs", "lighthouse", "pingdom", "uptimerobot", "statuscake", "site24x7",
        "archive.org", "mediapartners-google", "google-inspectiontool", "apis-google", "bingpreview", "yandeximages", "scanner", "nagios",
    ]

    static func includes(_ userAgent: String) -> Bool {
        let lowercased = userAgent.lowercased()
        return words.contains { lowercased.contains($0) }
    }
}
