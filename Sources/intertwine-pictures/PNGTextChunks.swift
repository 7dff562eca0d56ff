internal import Glibc

/// The texts of a PNG. Nothing is made of them, and yet decoders unpack them before they come to a pixel: a few hundred bytes become megabytes,
/// in a picture of any size (PNG, section 11.3.3).
enum PNGTextChunks {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    private static let names = ["tEXt", "zTXt", "iTXt"].map { Array($0.utf8) }
    /// Of a chunk, beside its data: length, name and checksum (section 5.3).
    private static let frame = 12

    /// Moves what lies behind each text over it.
    /// - Parameter picture: any picture; one that is no PNG stays as it is, and of a PNG what cannot be followed.
    /// - Returns: what is left of it, in the same memory.
    static func removed(from picture: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
        guard picture.starts(with: signature), let base = picture.baseAddress else { return UnsafeRawBufferPointer(picture) }
        var (place, end) = (signature.count, signature.count)
        while place < picture.count {
            var length = picture.count - place
            if length >= frame {
                let data = (0..<4).reduce(0) { $0 << 8 | Int(picture[place + $1]) }
                length = min(length, frame + data)
            }
            let isText = length >= frame && names.contains { $0.elementsEqual(picture[(place + 4)..<(place + 8)]) }
            if !isText {
                if end < place { memmove(base + end, base + place, length) }
                end += length
            }
            place += length
        }
        return UnsafeRawBufferPointer(rebasing: picture[..<end])
    }
}
