package struct TransformJob: Sendable, Hashable {
    package enum Cut: Sendable, Hashable {
        case fit, centre, attention
        /// The center in thousandths of the sides.
        case point(x: Int, y: Int)
    }

    package var id: UInt32
    /// The width of the box in pixels; 0 for any.
    package var width: Int
    package var height: Int
    package var cut: Cut
    /// Nil for the metadata alone.
    package var format: ImageFormat?
    package var quality: Int
    package var keepsAnimation: Bool

    package init(
        id: UInt32 = 0, width: Int = 0, height: Int = 0, cut: Cut = .fit, format: ImageFormat? = nil, quality: Int = 0,
        keepsAnimation: Bool = false
    ) {
        self.id = id
        self.width = min(max(width, 0), ImageLimits.longestSide)
        self.height = min(max(height, 0), ImageLimits.longestSide)
        self.cut = if case .point(let x, let y) = cut { .point(x: min(max(x, 0), 1_000), y: min(max(y, 0), 1_000)) } else { cut }
        self.format = format
        self.quality = min(max(quality, 0), 100)
        self.keepsAnimation = keepsAnimation
    }

    package func head(before count: Int) -> [UInt8] {
        let (code, x, y): (UInt8, Int, Int) =
            switch cut {
            case .fit: (0, 500, 500)
            case .centre: (1, 500, 500)
            case .attention: (2, 500, 500)
            case .point(let x, let y): (3, x, y)
            }
        var writer = WireWriter(.job, following: count)
        writer.word(id)
        writer.word(UInt32(truncatingIfNeeded: width))
        writer.word(UInt32(truncatingIfNeeded: height))
        writer.half(UInt16(truncatingIfNeeded: x))
        writer.half(UInt16(truncatingIfNeeded: y))
        writer.byte(code)
        writer.byte(format?.rawValue ?? 0)
        writer.byte(UInt8(truncatingIfNeeded: quality))
        writer.byte(keepsAnimation ? 1 : 0)
        return writer.encodedBytes
    }

    package static func read(_ body: UnsafeRawBufferPointer) -> (job: TransformJob, image: UnsafeRawBufferPointer)? {
        var reader = WireReader(body)
        guard let id = reader.word(), let width = reader.word(), let height = reader.word(), let x = reader.half(), let y = reader.half(),
            let code = reader.byte(), code <= 3, let format = reader.byte(), let quality = reader.byte(),
            let animated = reader.byte()
        else { return nil }
        let job = TransformJob(
            id: id, width: Int(width), height: Int(height), cut: [.fit, .centre, .attention, .point(x: Int(x), y: Int(y))][Int(code)],
            format: ImageFormat(rawValue: format), quality: Int(quality), keepsAnimation: animated == 1)
        return (job, reader.remaining)
    }

    package static func cancellation(of id: UInt32) -> [UInt8] {
        var writer = WireWriter(.cancel)
        writer.word(id)
        return writer.encodedBytes
    }
}
