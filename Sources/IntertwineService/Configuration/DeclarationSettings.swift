extension KindSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("kinds.file", &file, allowed: "a file's path")
    }
}

extension CampaignSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("campaigns.file", &file, allowed: "a file's path")
        reader.read("campaigns.reservation-timeout", &reservationTimeout, in: .seconds(10) ... .seconds(3_600))
    }
}
