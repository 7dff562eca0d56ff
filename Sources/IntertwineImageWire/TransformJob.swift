package struct TransformJob: Sendable, Hashable {
    package enum Cut: UInt8, Sendable {
        case fit = 0
        case centre = 1
        case attention = 2
        case point = 3
    }

    package var id: UInt32
    /// The width of the box in pixels; 0 for any.
    package var width: Int
    package var height: Int
    package var cut: Cut
    package var x: Int
    package var y: Int
    package var format: OutputFormat?
    package var quality: Int
    package var keepsAnimation: Bool

    package init(
        id: UInt32, width: Int = 0, height: Int = 0, cut: Cut = .fit, x: Int = 500, y: Int = 500, format: OutputFormat? = nil,
        quality: Int = 0, keepsAnimation: Bool = false
    ) {
        self.id = id
        self.width = min(max(width, 0), ImageLimits.longestSide)
        self.height = min(max(height, 0), ImageLimits.longestSide)
        self.cut = cut
        self.x = min(max(x, 0), 1_000)
        self.y = min(max(y, 0), 1_000)
        self.format = format
        self.quality = min(max(quality, 0), 100)
        self.keepsAnimation = keepsAnimation
    }

    package func head(before count: Int) -> [UInt8] {
        var writer = WireWriter(.job, following: count)
        writer.word(id)
        writer.word(UInt32(truncatingIfNeeded: width))
        writer.word(UInt32(truncatingIfNeeded: height))
        writer.half(UInt16(truncatingIfNeeded: x))
        writer.half(UInt16(truncatingIfNeeded: y))
        writer.byte(cut.rawValue)
        writer.byte(format?.rawValue ?? 0)
        writer.byte(UInt8(truncatingIfNeeded: quality))
        writer.byte(keepsAnimation ? 1 : 0)
        return writer.encodedBytes
    }

    package static func read(_ body: UnsafeRawBufferPointer) -> (job: TransformJob, image: UnsafeRawBufferPointer)? {
        var reader = WireReader(body)
        guard let id = reader.word(), let width = reader.word(), let height = reader.word(), let x = reader.half(), let y = reader.half(),
            let cut = reader.byte().flatMap(Cut.init(rawValue:)), let format = reader.byte(), let quality = reader.byte(),
            let animated = reader.byte()
        else { return nil }
        let job = TransformJob(
            id: id, width: Int(width), height: Int(height), cut: cut, x: Int(x), y: Int(y), format: OutputFormat(rawValue: format),
            quality: Int(quality), keepsAnimation: animated == 1)
        return (job, reader.remaining)
    }

    package static func cancellation(of id: UInt32) -> [UInt8] {
        var writer = WireWriter(.cancel)
        writer.word(id)
        return writer.encodedBytes
    }
}

package enum OutputFormat: UInt8, Sendable, CaseIterable {
    case jpeg = 1
    case png = 2
    case gif = 3
    case webp = 4
    case avif = 5
}
