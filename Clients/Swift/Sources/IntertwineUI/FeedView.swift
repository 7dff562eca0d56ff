#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
    import Foundation
    public import IntertwineClient
    public import SwiftUI

    #if canImport(Combine)
        import Combine
    #endif
    #if canImport(UIKit)
        import UIKit
    #elseif canImport(AppKit)
        import AppKit
    #endif

    /// A feed in a list: sections, ads with their disclosure, pull to refresh, a button for new cells, and a notice with undo.
    ///
    /// ```swift
    /// FeedView(client: client) { views in
    ///     views.register("UserTableViewCell", "CircularUserTableViewCell") { cell in
    ///         HStack {
    ///             FeedImage(cell, "avatar").frame(width: 60, height: 60)
    ///             Text(cell.bindings["username"]?.text ?? "")
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// A cell without a registered view is a placeholder of its size. Heights follow Dynamic Type as the server declares it, and are minimum heights.
    public struct FeedView: View {
        @StateObject private var feed: ObservedFeed
        @Environment(\.openURL) private var openURL
        /// One hundred points of text at the viewer's text size.
        @ScaledMetric(relativeTo: .body) private var scaledPoints: CGFloat = 100
        private let views: FeedCellViews

        /// Creates a view of a feed.
        ///
        /// - Parameters:
        ///   - url: The first page, a result of `FeedClient.url(feed:layout:)`; nil for the rows of the feed `main`.
        ///   - register: Registers the app's views by the identifiers of cells.
        public init(
            client: FeedClient, url: URL? = nil, texts: FeedTexts = FeedTexts(), register: (inout FeedCellViews) -> Void
        ) {
            self.init(model: FeedModel(client: client, url: url ?? client.url(layout: "table"), texts: texts), register: register)
        }

        /// Creates a view of a model that the app owns, for example to add its own presentations.
        ///
        /// ```swift
        /// FeedView(model: model) { views in
        ///     views.register("CardCell") { cell in Text(cell.bindings["text"]?.text ?? "") }
        /// }
        /// ```
        public init(model: @autoclosure @escaping () -> FeedModel, register: (inout FeedCellViews) -> Void) {
            _feed = StateObject(wrappedValue: ObservedFeed(model()))
            var views = FeedCellViews()
            register(&views)
            self.views = views
        }

        private var model: FeedModel { feed.model }

        /// The list with its notices and its button for new cells. It follows the feed while it is visible.
        public var body: some View {
            ScrollViewReader { scroller in
                List {
                    ForEach(IdentifiedSection.all(model.sections)) { entry in
                        if let header = entry.section.header {
                            Section {
                                rows(entry.section)
                            } header: {
                                views.view(of: header).accessibilityAddTraits(.isHeader)
                            }
                        } else {
                            Section { rows(entry.section) }
                        }
                    }
                    end
                }
                .listStyle(.plain)
                .refreshable { await model.refresh() }
                .background(FrameReader { feed.viewport = $0 ?? .zero })
                .overlay(alignment: .top) { newButton(scroller) }
                .overlay(alignment: .bottom) { notice }
                .overlay { state }
            }
            .environment(\.feedImages, model.images)
            .environment(\.feedModel, model)
            .task(id: feed.attempt) {
                model.onOpen = { openURL($0) }
                model.onAnnouncement = { Self.announce($0) }
                await model.run()
            }
            .onDisappear { model.setVisible([:]) }
        }

        private func rows(_ section: FeedSection) -> some View {
            ForEach(section.rows) { entry in
                row(entry.cell).background(FrameReader { feed.setFrame($0, of: entry.id) })
            }
        }

        private func row(_ cell: FeedCell) -> some View {
            let height = cell.size.height(textScale: scaledPoints / 100)
            return VStack(alignment: .leading) {
                if let disclosure = model.texts.disclosure(of: cell) {
                    Text(disclosure).font(.caption).foregroundColor(.secondary)
                }
                if views.isRegistered(cell) {
                    views.view(of: cell)
                } else {
                    Color.gray.opacity(0.2).frame(height: height).accessibilityLabel(Text(model.texts.placeholder))
                }
            }
            .frame(maxWidth: .infinity, minHeight: height, alignment: .leading)
            .contentShape(Rectangle())
            .onTapGesture { perform(.selection, cell) }
            .swipeActions(edge: .trailing) {
                if cell.actions[.dismissal] != nil {
                    Button(role: .destructive) {
                        perform(.dismissal, cell)
                    } label: {
                        Text(model.texts.dismiss)
                    }
                }
            }
            .contextMenu { menu(cell) }
            .accessibilityElement(children: .combine)
            .accessibilityAddTraits(cell.actions[.selection] == nil ? [] : .isButton)
            .accessibilityAction { perform(.selection, cell) }
            .accessibilityActions { menu(cell) }
        }

        private func menu(_ cell: FeedCell) -> some View {
            ForEach(model.texts.menu(of: cell), id: \.slot) { entry in
                Button {
                    perform(entry.slot, cell)
                } label: {
                    Text(entry.title)
                }
            }
        }

        /// The last row: the state of the next page.
        @ViewBuilder private var end: some View {
            if model.nextError != nil {
                Button {
                    Task { await model.loadNext() }
                } label: {
                    Text(model.texts.retry)
                }
            } else if !model.isAtEnd, model.phase == .loaded {
                ProgressView().frame(maxWidth: .infinity)
            }
        }

        @ViewBuilder private func newButton(_ scroller: ScrollViewProxy) -> some View {
            if model.newCount > 0 {
                Button {
                    model.showNew()
                    if let first = model.sections.first?.keys.first { scroller.scrollTo(first, anchor: .top) }
                } label: {
                    Text(model.texts.new(model.newCount))
                }
                .buttonStyle(.borderedProminent)
                .padding(8)
            }
        }

        @ViewBuilder private var notice: some View {
            if let notice = model.notice {
                HStack {
                    Text(notice.message)
                    if notice.undo != nil {
                        Button {
                            Task { await model.undo() }
                        } label: {
                            Text(model.texts.undo).bold()
                        }
                    }
                }
                .padding(12)
                .background(.regularMaterial)
                .cornerRadius(12)
                .padding(8)
                .accessibilityElement(children: .contain)
            }
        }

        /// The state of the first page, over an empty list.
        @ViewBuilder private var state: some View {
            switch model.phase {
            case .loading: ProgressView()
            case .failed(let error):
                VStack {
                    Text(model.texts.failure(error)).multilineTextAlignment(.center)
                    Button {
                        feed.attempt += 1
                    } label: {
                        Text(model.texts.retry)
                    }
                }
                .padding(20)
            case .loaded:
                if model.sections == [.empty] { Text(model.texts.empty).foregroundColor(.secondary) }
            }
        }

        private func perform(_ slot: CellSlot, _ cell: FeedCell) {
            Task { await model.perform(slot, of: cell) }
        }

        private static func announce(_ message: String) {
            #if canImport(UIKit)
                UIAccessibility.post(notification: .announcement, argument: message)
            #elseif canImport(AppKit)
                NSAccessibility.post(
                    element: NSApplication.shared, notification: .announcementRequested,
                    userInfo: [.announcement: message, .priority: NSAccessibilityPriorityLevel.high.rawValue])
            #endif
        }
    }

    /// The app's views by the identifiers of cells.
    @MainActor public struct FeedCellViews {
        private var views: [String: @MainActor (FeedCell) -> AnyView] = [:]

        init() {}

        /// Registers a view for cells with the given identifiers. A section header has a view like any other cell.
        public mutating func register<Content: View>(
            _ identifiers: String..., @ViewBuilder content: @escaping @MainActor (FeedCell) -> Content
        ) {
            for identifier in identifiers { views[identifier] = { AnyView(content($0)) } }
        }

        func isRegistered(_ cell: FeedCell) -> Bool { cell.identifier.map { views[$0] != nil } ?? false }

        /// Returns the registered view; for other cells the texts of the bindings.
        func view(of cell: FeedCell) -> AnyView {
            if let view = cell.identifier.flatMap({ views[$0] }) { return view(cell) }
            let texts = cell.bindings.sorted { $0.key < $1.key }.compactMap(\.value.text)
            return AnyView(Text(texts.joined(separator: " ")).font(.headline))
        }
    }

    /// Publishes the changes of a model, and computes the visible fraction of each row from its frame and that of the list.
    @MainActor private final class ObservedFeed: ObservableObject {
        let model: FeedModel
        /// The number of attempts to run the model.
        @Published var attempt = 0
        @Published private var revision = 0
        /// The frame of the list in global coordinates.
        var viewport = CGRect.zero
        private var frames: [Int: CGRect] = [:]
        private var isReporting = false

        init(_ model: FeedModel) {
            self.model = model
            model.onChange = { [weak self] in self?.revision += 1 }
        }

        /// Sets the frame of a row; nil if it is not in the list any more. All frames of one scroll step are one report.
        func setFrame(_ frame: CGRect?, of key: Int) {
            frames[key] = frame
            guard !isReporting else { return }
            isReporting = true
            Task {
                isReporting = false
                model.setVisible(
                    frames.mapValues { frame in
                        let visible = frame.intersection(viewport)
                        return visible.isNull || frame.height <= 0 ? 0 : visible.height / frame.height
                    })
            }
        }
    }

    /// A section with an id that is unique in the list, even if a header is listed twice.
    private struct IdentifiedSection: Identifiable {
        let id: String
        let section: FeedSection

        static func all(_ sections: [FeedSection]) -> [IdentifiedSection] {
            sections.enumerated().map { index, section in
                let isFirst = sections.firstIndex { $0.id == section.id } == index
                return IdentifiedSection(id: isFirst ? section.id : "\(section.id) \(index)", section: section)
            }
        }
    }

    /// Reports the frame of a view in global coordinates; nil when it disappears.
    private struct FrameReader: View {
        let report: @MainActor (CGRect?) -> Void

        init(_ report: @escaping @MainActor (CGRect?) -> Void) {
            self.report = report
        }

        var body: some View {
            GeometryReader { geometry in
                let frame = geometry.frame(in: .global)
                Color.clear
                    .onAppear { report(frame) }
                    .onChange(of: frame) { report($0) }
                    .onDisappear { report(nil) }
            }
        }
    }
#endif
