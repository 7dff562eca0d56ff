/// What stands at one marker of a JPEG (ITU-T T.81 annex B).
enum JPEGSegment: Hashable {
    /// More bytes are needed to tell.
    case unclear
    /// The picture's data or its end come before any frame.
    case unreadable
    case frame(FrameSize)
    /// Something else, of so many bytes with its marker.
    case other(length: Int)

    /// - Parameter bytes: from the marker on.
    init(_ bytes: ArraySlice<UInt8>) {
        func byte(_ place: Int) -> UInt8 { bytes[bytes.startIndex + place] }
        func number(_ place: Int) -> Int { Int(byte(place)) << 8 | Int(byte(place + 1)) }
        // Decoders pass over what is no marker (libjpeg's `next_marker`), and so must who wants to see the frame that they see.
        let junk = bytes.prefix { $0 != 0xff }.count
        guard junk == 0 else {
            self = .other(length: junk)
            return
        }
        guard bytes.count >= 2 else {
            self = .unclear
            return
        }
        switch byte(1) {
        case 0x00, 0x01, 0xd0...0xd7:
            // No marker, or one that stands alone.
            self = .other(length: 2)
        case 0xff:
            // A marker may be preceded by any number of these.
            self = .other(length: 1)
        case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
            guard bytes.count >= 9 else {
                self = .unclear
                return
            }
            // C2, C6, CA, CE.
            let isProgressive = byte(1) & 0x03 == 0x02
            self = .frame(FrameSize(width: number(7), height: number(5), isProgressive: isProgressive))
        case 0xc4, 0xc8, 0xcc, 0xdb...0xfe:
            guard bytes.count >= 4 else {
                self = .unclear
                return
            }
            self = .other(length: 2 + max(2, number(2)))
        default: self = .unreadable
        }
    }
}
