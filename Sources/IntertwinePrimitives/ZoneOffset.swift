/// An offset from UTC as in `+02:00`, up to 14 hours.
package enum ZoneOffset {
    package static func seconds(of text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 6, bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "-"), bytes[3] == UInt8(ascii: ":"),
            [1, 2, 4, 5].allSatisfy({ (0x30...0x39).contains(bytes[$0]) }),
            let hours = Int64(text.dropFirst().prefix(2)), let minutes = Int64(text.suffix(2)), (0...14).contains(hours),
            [0, 15, 30, 45].contains(minutes)
        else { return nil }
        return (bytes[0] == UInt8(ascii: "-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }
}
