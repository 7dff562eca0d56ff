internal import Glibc

/// Removes the text chunks of a PNG (section 11.3.3). Why: they are not used, but decoders inflate them before the first pixel.
enum PNGTextChunks {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    private static let names = ["tEXt", "zTXt", "iTXt"].map { Array($0.utf8) }
    private static let frame = 12

    static func removed(from image: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
        guard image.starts(with: signature), let base = image.baseAddress else { return UnsafeRawBufferPointer(image) }
        var (offset, end) = (signature.count, signature.count)
        while offset < image.count {
            var length = image.count - offset
            if length >= frame {
                let data = (0..<4).reduce(0) { $0 << 8 | Int(image[offset + $1]) }
                length = min(length, frame + data)
            }
            let isText = length >= frame && names.contains { $0.elementsEqual(image[(offset + 4)..<(offset + 8)]) }
            if !isText {
                if end < offset { memmove(base + end, base + offset, length) }
                end += length
            }
            offset += length
        }
        return UnsafeRawBufferPointer(rebasing: image[..<end])
    }
}
