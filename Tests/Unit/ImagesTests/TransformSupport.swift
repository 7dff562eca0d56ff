@testable import IntertwineImages

extension ImageTransformer {
    /// Resizes an image with a constant priority.
    func transform(
        _ image: [UInt8], _ recipe: TransformJob, priority: ImagePriority
    ) async throws(ImageError) -> TransformResult {
        try await transform(image, recipe, urgency: TransformPriority(priority))
    }

    func facts(of image: [UInt8], priority: ImagePriority) async throws(ImageError) -> ImageMetadata {
        try await facts(of: image, urgency: TransformPriority(priority))
    }
}

extension TransformJob {
    /// The canonical text: specifications with equal texts produce equal images. Its characters are letters, digits, `-`, `.` and `x`.
    var text: String {
        let box = "\(width > 0 ? "\(width)" : "")x\(height > 0 ? "\(height)" : "")"
        let placed =
            switch cut {
            case .fit: "fit"
            case .centre: "fill"
            case .attention: "fill-attention"
            case .point(let x, let y): "fill-\(x)-\(y)"
            }
        let encoded = (format.map { "\($0)" } ?? "") + (quality > 0 ? "-q\(quality)" : "")
        return "\(box).\(placed).\(encoded)" + (keepsAnimation ? ".animated" : "")
    }
}
