#if canImport(UIKit) && !os(tvOS) && !os(watchOS)
    public import Foundation
    public import IntertwineClient
    public import UIKit

    /// A feed in a collection view on a diffable data source, with the functions of `FeedView`.
    ///
    /// ```swift
    /// let feed = FeedViewController(client: client)
    /// feed.register(UICollectionViewCell.self, for: "UserSnapshotCollectionViewCell") { view, cell in
    ///     view.accessibilityLabel = cell.bindings["username"]?.text
    /// }
    /// navigationController.pushViewController(feed, animated: true)
    /// ```
    ///
    /// A cell without a registered class is a placeholder of its size.
    @MainActor
    open class FeedViewController: UICollectionViewController, UICollectionViewDelegateFlowLayout,
        UICollectionViewDataSourcePrefetching
    {
        /// The state of the feed.
        public let model: FeedModel
        private var classes: [String: UICollectionViewCell.Type] = [:]
        private var bindings: [String: (UICollectionViewCell, FeedCell) -> Void] = [:]
        private var dataSource: UICollectionViewDiffableDataSource<String, Int>?
        private var entries: [Int: FeedCell] = [:]
        private var headers: [FeedCell?] = []
        private var running: Task<Void, Never>?
        private var imageTasks: [ObjectIdentifier: Task<Void, Never>] = [:]
        private let newButton = UIButton(type: .system)
        private let noticeView = UIStackView()
        private let noticeLabel = UILabel()
        private let undoButton = UIButton(type: .system)
        private let stateLabel = UILabel()

        private static let placeholder = "IntertwineUI.placeholder"

        /// Creates a controller of a feed.
        ///
        /// - Parameter url: The first page, a result of `FeedClient.url(feed:)`; nil for the feed `main`.
        public convenience init(client: FeedClient, url: URL? = nil) {
            self.init(model: FeedModel(client: client, url: url))
        }

        /// Creates a controller of a model that the app owns.
        public init(model: FeedModel) {
            self.model = model
            super.init(collectionViewLayout: UICollectionViewFlowLayout())
        }

        /// Returns nil, because a storyboard cannot contain the controller.
        @available(*, unavailable)
        public required init?(coder: NSCoder) { nil }

        deinit {
            running?.cancel()
            for task in imageTasks.values { task.cancel() }
        }

        /// Registers a class of views for cells with the given identifiers, and the closure that fills a view with a cell.
        public func register<Cell: UICollectionViewCell>(
            _ type: Cell.Type, for identifiers: String..., bind: @escaping (Cell, FeedCell) -> Void
        ) {
            for identifier in identifiers {
                classes[identifier] = type
                if isViewLoaded { collectionView.register(type, forCellWithReuseIdentifier: identifier) }
                bindings[identifier] = { view, cell in
                    if let view = view as? Cell { bind(view, cell) }
                }
            }
        }

        /// Loads the image of a part into a view. If the view is reused for another cell, the request is cancelled.
        ///
        /// ```swift
        /// feed.register(UserCell.self, for: "UserTableViewCell") { [unowned feed] view, cell in
        ///     feed.load("avatar", of: cell, into: view.imageView)
        /// }
        /// ```
        public func load(_ part: String, of cell: FeedCell, into view: UIImageView) {
            imageTasks[ObjectIdentifier(view)]?.cancel()
            view.image = nil
            view.isAccessibilityElement = cell.bindings[part]?.alternativeText?.isEmpty == false
            view.accessibilityLabel = cell.bindings[part]?.alternativeText
            let images = model.images.images(for: cell, part: part, scale: traitCollection.displayScale)
            imageTasks[ObjectIdentifier(view)] = Task { [weak view] in
                for await image in images {
                    if case .image(_, let data, _) = image, !Task.isCancelled { view?.image = UIImage(data: data) }
                }
            }
        }

        open override func viewDidLoad() {
            super.viewDidLoad()
            for (identifier, type) in classes { collectionView.register(type, forCellWithReuseIdentifier: identifier) }
            collectionView.register(PlaceholderCell.self, forCellWithReuseIdentifier: Self.placeholder)
            collectionView.register(
                HeaderView.self, forSupplementaryViewOfKind: UICollectionView.elementKindSectionHeader,
                withReuseIdentifier: Self.placeholder)
            collectionView.prefetchDataSource = self
            let refresh = UIRefreshControl()
            refresh.addAction(UIAction { [weak self] _ in self?.refresh() }, for: .valueChanged)
            collectionView.refreshControl = refresh
            makeDataSource()
            makeOverlays()
            model.onChange = { [weak self] in self?.apply() }
            model.onOpen = { UIApplication.shared.open($0) }
            run()
        }

        open override func viewDidAppear(_ animated: Bool) {
            super.viewDidAppear(animated)
            reportVisible()
        }

        open override func viewDidDisappear(_ animated: Bool) {
            super.viewDidDisappear(animated)
            model.setVisible([:])
        }

        open override func traitCollectionDidChange(_ previousTraitCollection: UITraitCollection?) {
            super.traitCollectionDidChange(previousTraitCollection)
            guard traitCollection.preferredContentSizeCategory != previousTraitCollection?.preferredContentSizeCategory else { return }
            collectionViewLayout.invalidateLayout()
        }

        private func refresh() {
            Task {
                if case .failed = model.phase { run() } else { await model.refresh() }
                collectionView.refreshControl?.endRefreshing()
            }
        }

        private func undo() {
            Task { await model.undo() }
        }

        private func run() {
            running?.cancel()
            running = Task { [model] in await model.run() }
        }

        private func makeDataSource() {
            let source = UICollectionViewDiffableDataSource<String, Int>(collectionView: collectionView) { [weak self] view, path, key in
                self?.view(for: key, at: path, in: view) ?? view.dequeueReusableCell(withReuseIdentifier: Self.placeholder, for: path)
            }
            source.supplementaryViewProvider = { [weak self] view, kind, path in
                let header = view.dequeueReusableSupplementaryView(ofKind: kind, withReuseIdentifier: Self.placeholder, for: path)
                (header as? HeaderView)?.label.text = self?.title(ofSection: path.section)
                return header
            }
            dataSource = source
        }

        private func view(for key: Int, at path: IndexPath, in collection: UICollectionView) -> UICollectionViewCell? {
            guard let cell = entries[key] else { return nil }
            guard let identifier = cell.identifier, let bind = bindings[identifier] else {
                let view = collection.dequeueReusableCell(withReuseIdentifier: Self.placeholder, for: path)
                view.isAccessibilityElement = true
                view.accessibilityLabel = model.texts.placeholder
                return view
            }
            let view = collection.dequeueReusableCell(withReuseIdentifier: identifier, for: path)
            bind(view, cell)
            DisclosureLabel.show(model.texts.disclosure(of: cell), in: view)
            view.accessibilityCustomActions = model.texts.menu(of: cell).map { entry in
                UIAccessibilityCustomAction(name: entry.title) { [weak self] _ in
                    self?.perform(entry.slot, cell)
                    return true
                }
            }
            return view
        }

        private func title(ofSection index: Int) -> String? {
            guard headers.indices.contains(index), let header = headers[index] else { return nil }
            return header.bindings.sorted { $0.key < $1.key }.compactMap(\.value.text).joined(separator: " ")
        }

        /// Shows the state of the model. The data source computes the difference.
        private func apply() {
            var snapshot = NSDiffableDataSourceSnapshot<String, Int>()
            var changed: [Int] = []
            var shown: [Int: FeedCell] = [:]
            let ids = Set(model.sections.map(\.id)).count == model.sections.count
            for (index, section) in model.sections.enumerated() {
                let id = ids ? section.id : "\(section.id) \(index)"
                snapshot.appendSections([id])
                snapshot.appendItems(section.keys, toSection: id)
                for row in section.rows {
                    if let known = entries[row.id], known != row.cell { changed.append(row.id) }
                    shown[row.id] = row.cell
                }
            }
            entries = shown
            headers = model.sections.map(\.header)
            snapshot.reconfigureItems(changed)
            dataSource?.apply(snapshot, animatingDifferences: !UIAccessibility.isReduceMotionEnabled) { [weak self] in
                self?.reportVisible()
            }
            showOverlays()
        }

        // MARK: Layout

        open func collectionView(
            _ collectionView: UICollectionView, layout collectionViewLayout: UICollectionViewLayout, sizeForItemAt indexPath: IndexPath
        ) -> CGSize {
            guard let key = dataSource?.itemIdentifier(for: indexPath), let cell = entries[key] else { return .zero }
            let textScale = UIFontMetrics.default.scaledValue(for: 100, compatibleWith: traitCollection) / 100
            return CGSize(width: min(cell.size.width, collectionView.bounds.width), height: cell.size.height(textScale: textScale))
        }

        open func collectionView(
            _ collectionView: UICollectionView, layout collectionViewLayout: UICollectionViewLayout,
            referenceSizeForHeaderInSection section: Int
        ) -> CGSize {
            guard let text = title(ofSection: section), !text.isEmpty else { return .zero }
            return CGSize(width: collectionView.bounds.width, height: UIFont.preferredFont(forTextStyle: .headline).lineHeight + 16)
        }

        // MARK: Gestures

        open override func collectionView(_ collectionView: UICollectionView, didSelectItemAt indexPath: IndexPath) {
            collectionView.deselectItem(at: indexPath, animated: true)
            if let cell = cell(at: indexPath) { perform(.selection, cell) }
        }

        open override func collectionView(
            _ collectionView: UICollectionView, contextMenuConfigurationForItemsAt indexPaths: [IndexPath], point: CGPoint
        ) -> UIContextMenuConfiguration? {
            guard let cell = indexPaths.first.flatMap({ cell(at: $0) }) else { return nil }
            let entries = model.texts.menu(of: cell)
            guard !entries.isEmpty else { return nil }
            return UIContextMenuConfiguration(identifier: nil, previewProvider: nil) { [weak self] _ in
                UIMenu(
                    children: entries.map { entry in UIAction(title: entry.title) { _ in self?.perform(entry.slot, cell) } })
            }
        }

        private func cell(at path: IndexPath) -> FeedCell? { dataSource?.itemIdentifier(for: path).flatMap { entries[$0] } }

        private func perform(_ slot: CellSlot, _ cell: FeedCell) {
            Task { await model.perform(slot, of: cell) }
        }

        // MARK: Visible cells

        open override func scrollViewDidScroll(_ scrollView: UIScrollView) { reportVisible() }

        private func reportVisible() {
            let window = CGRect(origin: collectionView.contentOffset, size: collectionView.bounds.size)
            var shares: [Int: Double] = [:]
            for path in collectionView.indexPathsForVisibleItems {
                guard let key = dataSource?.itemIdentifier(for: path), let frame = collectionView.layoutAttributesForItem(at: path)?.frame,
                    frame.width > 0, frame.height > 0
                else { continue }
                let visible = frame.intersection(window)
                shares[key] = visible.isNull ? 0 : visible.width * visible.height / (frame.width * frame.height)
            }
            model.setVisible(shares)
        }

        open func collectionView(_ collectionView: UICollectionView, prefetchItemsAt indexPaths: [IndexPath]) {
            let cells = indexPaths.compactMap { cell(at: $0) }
            let (images, scale) = (model.images, traitCollection.displayScale)
            Task { await images.prefetch(cells, scale: scale) }
        }

        open func collectionView(_ collectionView: UICollectionView, cancelPrefetchingForItemsAt indexPaths: [IndexPath]) {
            let cells = indexPaths.compactMap { cell(at: $0) }
            Task { [images = model.images] in await images.cancelPrefetching(cells) }
        }

        // MARK: Overlays

        private func makeOverlays() {
            newButton.configuration = .filled()
            newButton.addAction(
                UIAction { [weak self] _ in
                    self?.model.showNew()
                    self?.collectionView.setContentOffset(.zero, animated: true)
                }, for: .touchUpInside)
            undoButton.setTitle(model.texts.undo, for: .normal)
            undoButton.addAction(UIAction { [weak self] _ in self?.undo() }, for: .touchUpInside)
            noticeView.spacing = 12
            noticeView.backgroundColor = .secondarySystemBackground
            noticeView.layoutMargins = UIEdgeInsets(top: 8, left: 12, bottom: 8, right: 12)
            noticeView.isLayoutMarginsRelativeArrangement = true
            for view in [noticeLabel, undoButton] { noticeView.addArrangedSubview(view) }
            for label in [noticeLabel, stateLabel] {
                label.font = .preferredFont(forTextStyle: .body)
                label.adjustsFontForContentSizeCategory = true
                label.numberOfLines = 0
            }
            stateLabel.textAlignment = .center
            collectionView.backgroundView = stateLabel
            // The guides follow the writing direction.
            let guide = view.safeAreaLayoutGuide
            for overlay in [newButton, noticeView] as [UIView] {
                overlay.translatesAutoresizingMaskIntoConstraints = false
                view.addSubview(overlay)
                overlay.centerXAnchor.constraint(equalTo: guide.centerXAnchor).isActive = true
            }
            newButton.topAnchor.constraint(equalTo: guide.topAnchor, constant: 8).isActive = true
            noticeView.bottomAnchor.constraint(equalTo: guide.bottomAnchor, constant: -8).isActive = true
            showOverlays()
        }

        private func showOverlays() {
            newButton.isHidden = model.newCount == 0
            newButton.setTitle(model.texts.new(model.newCount), for: .normal)
            if let notice = model.notice, noticeLabel.text != notice.message || noticeView.isHidden {
                UIAccessibility.post(notification: .announcement, argument: notice.message)
            }
            noticeView.isHidden = model.notice == nil
            noticeLabel.text = model.notice?.message
            undoButton.isHidden = model.notice?.undo == nil
            switch model.phase {
            case .loading: stateLabel.text = nil
            case .failed(let error): stateLabel.text = model.texts.failure(error)
            case .loaded: stateLabel.text = model.sections == [.empty] ? model.texts.empty : nil
            }
        }
    }

    /// The view of a cell without a registered class.
    private final class PlaceholderCell: UICollectionViewCell {
        override init(frame: CGRect) {
            super.init(frame: frame)
            contentView.backgroundColor = .secondarySystemBackground
        }

        required init?(coder: NSCoder) { nil }
    }

    private final class HeaderView: UICollectionReusableView {
        let label = UILabel()

        override init(frame: CGRect) {
            super.init(frame: frame)
            label.font = .preferredFont(forTextStyle: .headline)
            label.adjustsFontForContentSizeCategory = true
            label.accessibilityTraits = .header
            label.frame = bounds.insetBy(dx: 16, dy: 8)
            label.autoresizingMask = [.flexibleWidth, .flexibleHeight]
            addSubview(label)
        }

        required init?(coder: NSCoder) { nil }
    }

    /// The disclosure at the leading top corner of an ad.
    private final class DisclosureLabel: UILabel {
        static func show(_ text: String?, in cell: UICollectionViewCell) {
            let known = cell.contentView.subviews.lazy.compactMap { $0 as? DisclosureLabel }.first
            guard let text else {
                known?.removeFromSuperview()
                return
            }
            let label = known ?? DisclosureLabel(frame: .zero)
            label.text = text
            label.font = .preferredFont(forTextStyle: .caption1)
            label.adjustsFontForContentSizeCategory = true
            label.backgroundColor = .secondarySystemBackground
            guard known == nil else { return }
            label.translatesAutoresizingMaskIntoConstraints = false
            cell.contentView.addSubview(label)
            label.topAnchor.constraint(equalTo: cell.contentView.topAnchor).isActive = true
            label.leadingAnchor.constraint(equalTo: cell.contentView.leadingAnchor).isActive = true
        }
    }
#endif
