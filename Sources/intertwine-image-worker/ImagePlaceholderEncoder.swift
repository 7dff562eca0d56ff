internal import Glibc
internal import IntertwineImageWire

/// An encoder of the dominant color and the blurred placeholder, from an image scaled to at most 64 × 64 pixels.
struct ImagePlaceholderEncoder {
    static let longestSide = 64

    private let width: Int
    private let height: Int
    private let pixels: [SIMD4<Float>]

    init(_ image: DecodedImage) {
        let (fullWidth, fullHeight) = (image.width, image.height)
        let longest = max(fullWidth, fullHeight, 1)
        let scale = min(1, Double(Self.longestSide) / Double(longest))
        let width = max(1, Int((Double(fullWidth) * scale).rounded()))
        let height = max(1, Int((Double(fullHeight) * scale).rounded()))
        self.width = width
        self.height = height
        let bands = image.bands
        pixels =
            image.withPixels { bytes in
                Self.averages(bytes, fullWidth, fullHeight, bands, width, height)
            } ?? Array(repeating: [0, 0, 0, 0], count: width * height)
    }

    private static func averages(
        _ bytes: UnsafePointer<UInt8>, _ fullWidth: Int, _ fullHeight: Int, _ bands: Int, _ width: Int, _ height: Int
    ) -> [SIMD4<Float>] {
        var sums = [SIMD4<UInt32>](repeating: .zero, count: width)
        var counts = [UInt32](repeating: 0, count: width)
        var pixels: [SIMD4<Float>] = []
        pixels.reserveCapacity(width * height)
        // Large boxes are sampled: four rows and columns of each suffice.
        let step = max(1, fullWidth / width / 4)
        let (isGrey, hasAlpha) = (bands < 3, bands == 2 || bands == 4)
        for row in 0..<height {
            let (top, bottom) = (row * fullHeight / height, max(row * fullHeight / height + 1, (row + 1) * fullHeight / height))
            for column in 0..<width { (sums[column], counts[column]) = (.zero, 0) }
            for y in stride(from: top, to: bottom, by: step) {
                let line = bytes + y * fullWidth * bands
                for column in 0..<width {
                    let left = column * fullWidth / width
                    let right = max(left + 1, (column + 1) * fullWidth / width)
                    for x in stride(from: left, to: right, by: step) {
                        let pixel = line + x * bands
                        let alpha = hasAlpha ? UInt32(pixel[bands - 1]) : 255
                        let (green, blue) = isGrey ? (pixel[0], pixel[0]) : (pixel[1], pixel[2])
                        sums[column] &+= SIMD4(UInt32(pixel[0]) &* alpha, UInt32(green) &* alpha, UInt32(blue) &* alpha, alpha)
                        counts[column] &+= 1
                    }
                }
            }
            for column in 0..<width {
                let sum = SIMD4<Float>(sums[column])
                let color = sum.w > 0 ? sum / (sum.w * 255) : .zero
                pixels.append(SIMD4(color.x, color.y, color.z, sum.w / (255 * Float(max(1, counts[column])))))
            }
        }
        return pixels
    }

    var color: TransformResult.Color {
        var bins = [SIMD4<Float>](repeating: .zero, count: 4_096)
        for pixel in pixels where pixel.w > 0 {
            let bucket = SIMD4<Int32>(pixel * 15.99)
            let bin = Int(bucket.x) << 8 | Int(bucket.y) << 4 | Int(bucket.z)
            bins[bin & 4_095] += SIMD4(pixel.x * pixel.w, pixel.y * pixel.w, pixel.z * pixel.w, pixel.w)
        }
        let fullest = bins.max { $0.w < $1.w } ?? .zero
        guard fullest.w > 0 else { return TransformResult.Color(red: 255, green: 255, blue: 255) }
        func byte(_ part: Float) -> UInt8 { UInt8(min(255, max(0, (part / fullest.w * 255).rounded()))) }
        return TransformResult.Color(red: byte(fullest.x), green: byte(fullest.y), blue: byte(fullest.z))
    }

    var thumbHash: [UInt8] {
        let count = Float(pixels.count)
        var sum = SIMD4<Float>.zero
        for pixel in pixels { sum += SIMD4(pixel.x * pixel.w, pixel.y * pixel.w, pixel.z * pixel.w, pixel.w) }
        let mean = sum.w > 0 ? sum / sum.w : .zero
        let hasAlpha = sum.w < count - 0.001
        var channels = [[Float]](repeating: [], count: 4)
        for pixel in pixels {
            // Transparent parts have the mean color of the image.
            let color = mean * (1 - pixel.w) + pixel * pixel.w
            channels[0].append((color.x + color.y + color.z) / 3)
            channels[1].append((color.x + color.y) / 2 - color.z)
            channels[2].append(color.x - color.y)
            channels[3].append(pixel.w)
        }
        let most: Float = hasAlpha ? 5 : 7
        let longest = Float(max(width, height))
        let across = max(1, Int((most * Float(width) / longest).rounded()))
        let down = max(1, Int((most * Float(height) / longest).rounded()))
        let light = waves(channels[0], max(3, across), max(3, down))
        let (yellow, red) = (waves(channels[1], 3, 3), waves(channels[2], 3, 3))
        let isWide = width > height

        func bits(_ value: Float, _ most: Float) -> UInt32 { UInt32(min(most, max(0, (value * most).rounded()))) }
        let first =
            bits(light.mean, 63) | bits((yellow.mean + 1) / 2, 63) << 6 | bits((red.mean + 1) / 2, 63) << 12
            | bits(light.scale, 31) << 18 | (hasAlpha ? 1 << 23 : 0)
        let second =
            UInt32(isWide ? down : across) | bits(yellow.scale, 63) << 3 | bits(red.scale, 63) << 9 | (isWide ? 1 << 15 : 0)
        var hash = [first, first >> 8, first >> 16, second, second >> 8].map { UInt8(truncatingIfNeeded: $0) }
        var fine = light.rest + yellow.rest + red.rest
        if hasAlpha {
            let alpha = waves(channels[3], 5, 5)
            hash.append(UInt8(truncatingIfNeeded: bits(alpha.mean, 15) | bits(alpha.scale, 15) << 4))
            fine += alpha.rest
        }
        for pair in stride(from: 0, to: fine.count, by: 2) {
            let high = pair + 1 < fine.count ? bits(fine[pair + 1], 15) << 4 : 0
            hash.append(UInt8(truncatingIfNeeded: bits(fine[pair], 15) | high))
        }
        return hash
    }

    private func waves(_ channel: [Float], _ across: Int, _ down: Int) -> (mean: Float, scale: Float, rest: [Float]) {
        let columns = Self.cosines(across, width)
        let rows = Self.cosines(down, height)
        // The first pass transforms the rows.
        var along = [Float](repeating: 0, count: across * height)
        for y in 0..<height {
            for wave in 0..<across {
                var sum: Float = 0
                for x in 0..<width { sum += channel[y * width + x] * columns[wave * width + x] }
                along[wave * height + y] = sum
            }
        }
        var mean: Float = 0
        var rest: [Float] = []
        for waveDown in 0..<down {
            var waveAcross = 0
            while waveAcross * down < across * (down - waveDown) {
                var sum: Float = 0
                for y in 0..<height { sum += along[waveAcross * height + y] * rows[waveDown * height + y] }
                sum /= Float(width * height)
                if waveAcross == 0 && waveDown == 0 { mean = sum } else { rest.append(sum) }
                waveAcross += 1
            }
        }
        let scale = rest.reduce(0) { max($0, abs($1)) }
        return (mean, scale, rest.map { scale > 0 ? 0.5 + 0.5 * $0 / scale : 0 })
    }

    private static func cosines(_ waves: Int, _ length: Int) -> [Float] {
        (0..<waves).flatMap { wave in
            (0..<length).map { Float(cos(Double.pi / Double(length) * Double(wave) * (Double($0) + 0.5))) }
        }
    }
}
