/// What the service asks a worker to do: to make something of a picture, whose bytes follow.
package struct TransformJob: Sendable, Hashable {
    /// How it gets into its box.
    package enum Cut: UInt8, Sendable {
        case fit = 0
        case centre = 1
        case attention = 2
        case point = 3
    }

    /// Sides that can be asked for.
    package static let longestSide = 16_384

    /// Names it in the answer, and where it is taken back.
    package var id: UInt32
    /// Of the box; 0 for any.
    package var width: Int
    package var height: Int
    package var cut: Cut
    /// Where the point is, in thousandths from left and top.
    package var x: Int
    package var y: Int
    /// What to encode it to; nil where only facts are wanted.
    package var format: OutputFormat?
    package var quality: Int
    package var keepsAnimation: Bool

    package init(
        id: UInt32, width: Int = 0, height: Int = 0, cut: Cut = .fit, x: Int = 500, y: Int = 500, format: OutputFormat? = nil,
        quality: Int = 0, keepsAnimation: Bool = false
    ) {
        self.id = id
        self.width = min(max(width, 0), Self.longestSide)
        self.height = min(max(height, 0), Self.longestSide)
        self.cut = cut
        self.x = min(max(x, 0), 1_000)
        self.y = min(max(y, 0), 1_000)
        self.format = format
        self.quality = min(max(quality, 0), 100)
        self.keepsAnimation = keepsAnimation
    }

    /// The frame's beginning; the picture's bytes come behind it.
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

    /// - Parameter body: of the frame.
    /// - Returns: the job and what is left, the picture. Nil where it is no such frame.
    package static func read(_ body: UnsafeRawBufferPointer) -> (job: TransformJob, picture: UnsafeRawBufferPointer)? {
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

    /// Takes a job back.
    package static func cancellation(of id: UInt32) -> [UInt8] {
        var writer = WireWriter(.cancel)
        writer.word(id)
        return writer.encodedBytes
    }
}

/// The formats, by the numbers that they have between the processes.
package enum OutputFormat: UInt8, Sendable, CaseIterable {
    case jpeg = 1
    case png = 2
    case gif = 3
    case webp = 4
    case avif = 5
}
