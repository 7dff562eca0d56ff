@testable import IntertwineImages

extension ImageTransformer {
    /// Resizes an image with a constant priority.
    func transform(
        _ image: [UInt8], _ recipe: TransformSpec, priority: ImagePriority
    ) async throws(ImageError) -> TransformedImage {
        try await transform(image, recipe, urgency: TransformPriority(priority))
    }

    func facts(of image: [UInt8], priority: ImagePriority) async throws(ImageError) -> ImageMetadata {
        try await facts(of: image, urgency: TransformPriority(priority))
    }
}

extension TransformSpec {
    /// The canonical text: specifications with equal texts produce equal images. Its characters are letters, digits, `-`, `.` and `x`.
    var text: String {
        let box = "\(width.map(String.init) ?? "")x\(height.map(String.init) ?? "")"
        let placed =
            switch fit {
            case .fit: "fit"
            case .fill(.centre): "fill"
            case .fill(.attention): "fill-attention"
            case .fill(.point(let x, let y)): "fill-\(Self.thousandths(x))-\(Self.thousandths(y))"
            }
        let encoded = "\(format)" + (quality.map { "-q\($0)" } ?? "")
        return "\(box).\(placed).\(encoded)" + (keepsAnimation ? ".animated" : "")
    }
}
