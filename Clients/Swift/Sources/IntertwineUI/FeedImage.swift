#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
    import Foundation
    public import IntertwineClient
    public import SwiftUI

    #if canImport(UIKit)
        import UIKit
    #elseif canImport(AppKit)
        import AppKit
    #endif

    /// The image of a part of a cell: the placeholder color until it is loaded, then the image, at the scale of the screen.
    ///
    /// In a `FeedView` it uses the view's loader, with its cache. If the view disappears, its request is cancelled.
    ///
    /// ```swift
    /// HStack {
    ///     FeedImage(cell, "avatar", initials: "username").frame(width: 60, height: 60)
    ///     Text(cell.bindings["username"]?.text ?? "")
    /// }
    /// ```
    public struct FeedImage: View {
        private let cell: FeedCell
        private let part: String
        private let initials: String
        @Environment(\.feedImages) private var images
        @Environment(\.feedModel) private var model
        @Environment(\.displayScale) private var scale
        @State private var loaded: Image?

        /// Creates a view of an image.
        ///
        /// - Parameters:
        ///   - part: The name of the binding, such as `avatar`.
        ///   - name: The name of a text's binding, such as `username`: its initials are shown while there is no image. Nil for none.
        public init(_ cell: FeedCell, _ part: String, initials name: String? = nil) {
            self.cell = cell
            self.part = part
            initials = name.map(cell.initials) ?? ""
        }

        private var binding: CellBinding? { cell.bindings[part] }

        /// The image or its placeholder, with the alternative text of the binding as its accessibility label.
        public var body: some View {
            content
                .accessibilityLabel(Text(binding?.alternativeText ?? ""))
                .accessibilityHidden(binding?.alternativeText?.isEmpty != false)
                .task(id: binding?.image) { await load() }
                .onDisappear { model?.setLoading(part, of: cell, false) }
        }

        @ViewBuilder private var content: some View {
            if let loaded {
                loaded.resizable().scaledToFill()
            } else {
                placeholder.overlay { Text(initials).accessibilityHidden(true) }
            }
        }

        private var placeholder: Color {
            guard let text = binding?.color?.dropFirst(), let value = Int(text, radix: 16) else { return Color.gray.opacity(0.2) }
            let (red, green, blue) = (value >> 16 & 0xFF, value >> 8 & 0xFF, value & 0xFF)
            return Color(red: Double(red) / 255, green: Double(green) / 255, blue: Double(blue) / 255)
        }

        private func load() async {
            guard let images else { return }
            if binding?.image != nil { model?.setLoading(part, of: cell, true) }
            for await image in images.images(for: cell, part: part, scale: scale) {
                guard case .image(_, let data, _) = image else { continue }
                loaded = Self.decode(data)
                if loaded != nil { model?.setLoading(part, of: cell, false) }
            }
        }

        private static func decode(_ data: Data) -> Image? {
            #if canImport(UIKit)
                UIImage(data: data).map { Image(uiImage: $0) }
            #elseif canImport(AppKit)
                NSImage(data: data).map { Image(nsImage: $0) }
            #else
                nil
            #endif
        }
    }

    private struct FeedImagesKey: EnvironmentKey {
        static let defaultValue: ImageLoader? = nil
    }

    private struct FeedModelKey: EnvironmentKey {
        static let defaultValue: FeedModel? = nil
    }

    extension EnvironmentValues {
        /// The model of the view, which counts no cell as seen before its pictures are shown.
        var feedModel: FeedModel? {
            get { self[FeedModelKey.self] }
            set { self[FeedModelKey.self] = newValue }
        }

        /// The loader of the images in `FeedImage`.
        public var feedImages: ImageLoader? {
            get { self[FeedImagesKey.self] }
            set { self[FeedImagesKey.self] = newValue }
        }
    }
#endif
