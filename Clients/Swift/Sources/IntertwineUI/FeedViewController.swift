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
    /// A cell without a registered class is a placeholder of its size. The disclosure of an ad is a line above its cell, outside of its bounds. The
    /// cell of an ad does not clip to its bounds; a class clips its `contentView` instead.
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
        private var hasFooter = false
        private var running: Task<Void, Never>?
        /// A picture in a view that may be reused for another cell.
        private struct Picture {
            let part: String
            let cell: FeedCell
            let task: Task<Void, Never>
        }
        private var pictures: [ObjectIdentifier: Picture] = [:]
        private let newButton = UIButton(type: .system)
        private let noticeView = UIStackView()
        private let noticeLabel = UILabel()
        private let undoButton = UIButton(type: .system)
        private let stateView = UIStackView()
        private let stateLabel = UILabel()
        private let retryButton = UIButton(type: .system)

        private static let placeholder = "IntertwineUI.placeholder"
        private static let headerKind = UICollectionView.elementKindSectionHeader
        private static let footerKind = UICollectionView.elementKindSectionFooter

        /// Creates a controller of a feed.
        ///
        /// - Parameter url: The first page, a result of `FeedClient.url(feed:)`; nil for the feed `main`.
        public convenience init(client: FeedClient, url: URL? = nil) {
            self.init(model: FeedModel(client: client, url: url))
        }

        /// Creates a controller of a model that the app owns.
        public init(model: FeedModel) {
            self.model = model
            super.init(collectionViewLayout: FeedLayout())
        }

        /// Returns nil, because a storyboard cannot contain the controller.
        @available(*, unavailable)
        public required init?(coder: NSCoder) { nil }

        deinit {
            running?.cancel()
            for picture in pictures.values { picture.task.cancel() }
        }

        /// Registers a class of views for cells with the given identifiers, and the closure that fills a view with a cell.
        ///
        /// A section header has a view like any other cell. Without a registered class its view is a label with its texts.
        public func register<Cell: UICollectionViewCell>(
            _ type: Cell.Type, for identifiers: String..., bind: @escaping (Cell, FeedCell) -> Void
        ) {
            for identifier in identifiers {
                classes[identifier] = type
                if isViewLoaded { register(type, for: identifier) }
                bindings[identifier] = { view, cell in
                    if let view = view as? Cell { bind(view, cell) }
                }
            }
        }

        private func register(_ type: UICollectionViewCell.Type, for identifier: String) {
            collectionView.register(type, forCellWithReuseIdentifier: identifier)
            collectionView.register(type, forSupplementaryViewOfKind: Self.headerKind, withReuseIdentifier: identifier)
        }

        /// Loads the image of a part into a view. If the view is reused for another cell, the request is cancelled.
        ///
        /// ```swift
        /// feed.register(UserCell.self, for: "UserTableViewCell") { [unowned feed] view, cell in
        ///     feed.load("avatar", of: cell, into: view.imageView)
        /// }
        /// ```
        public func load(_ part: String, of cell: FeedCell, into view: UIImageView) {
            if let former = pictures[ObjectIdentifier(view)] {
                former.task.cancel()
                model.setLoading(former.part, of: former.cell, false)
            }
            view.image = nil
            if cell.bindings[part]?.image != nil { model.setLoading(part, of: cell, true) }
            view.isAccessibilityElement = cell.bindings[part]?.alternativeText?.isEmpty == false
            view.accessibilityLabel = cell.bindings[part]?.alternativeText
            let images = model.images.images(for: cell, part: part, scale: traitCollection.displayScale)
            let task = Task { [weak view, model] in
                for await image in images {
                    guard case .image(_, let data, _) = image, !Task.isCancelled else { continue }
                    view?.image = UIImage(data: data)
                    if view?.image != nil { model.setLoading(part, of: cell, false) }
                }
            }
            pictures[ObjectIdentifier(view)] = Picture(part: part, cell: cell, task: task)
        }

        open override func viewDidLoad() {
            super.viewDidLoad()
            for (identifier, type) in classes { register(type, for: identifier) }
            collectionView.register(PlaceholderCell.self, forCellWithReuseIdentifier: Self.placeholder)
            collectionView.register(
                HeaderView.self, forSupplementaryViewOfKind: Self.headerKind, withReuseIdentifier: Self.placeholder)
            collectionView.register(
                FooterView.self, forSupplementaryViewOfKind: Self.footerKind, withReuseIdentifier: Self.placeholder)
            (collectionViewLayout as? FeedLayout)?.disclosureHeight = { [weak self] path in
                self?.cell(at: path).map { self?.disclosureHeight(of: $0) ?? 0 } ?? 0
            }
            collectionView.prefetchDataSource = self
            let refresh = UIRefreshControl()
            refresh.addAction(UIAction { [weak self] _ in self?.refresh() }, for: .valueChanged)
            collectionView.refreshControl = refresh
            makeDataSource()
            makeOverlays()
            model.onChange = { [weak self] in self?.apply() }
            model.onOpen = { UIApplication.shared.open($0) }
            model.onAnnouncement = { UIAccessibility.post(notification: .announcement, argument: $0) }
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

        /// Loads the page that failed again: the first one, or the next one.
        private func retry() {
            if case .failed = model.phase { run() } else { Task { await model.loadNext() } }
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
                let header = kind == Self.headerKind ? self?.header(ofSection: path.section) : nil
                let registered = header?.identifier.flatMap { id in self?.bindings[id].map { (id: id, bind: $0) } }
                let supplement = view.dequeueReusableSupplementaryView(
                    ofKind: kind, withReuseIdentifier: registered?.id ?? Self.placeholder, for: path)
                if let header, let registered, let cell = supplement as? UICollectionViewCell {
                    registered.bind(cell, header)
                    cell.accessibilityTraits.insert(.header)
                }
                (supplement as? HeaderView)?.label.text = header.flatMap { self?.title(of: $0) }
                (supplement as? FooterView)?.show(self?.model.texts.retry) { self?.retry() }
                return supplement
            }
            dataSource = source
        }

        private func view(for key: Int, at path: IndexPath, in collection: UICollectionView) -> UICollectionViewCell? {
            guard let cell = entries[key] else { return nil }
            let disclosure = model.texts.disclosure(of: cell)
            guard let identifier = cell.identifier, let bind = bindings[identifier] else {
                let view = collection.dequeueReusableCell(withReuseIdentifier: Self.placeholder, for: path)
                DisclosureLabel.show(disclosure, in: view)
                view.isAccessibilityElement = true
                view.accessibilityLabel = [disclosure, model.texts.placeholder].compactMap { $0 }.joined(separator: ", ")
                return view
            }
            let view = collection.dequeueReusableCell(withReuseIdentifier: identifier, for: path)
            bind(view, cell)
            DisclosureLabel.show(disclosure, in: view)
            view.accessibilityCustomActions = model.texts.menu(of: cell).map { entry in
                UIAccessibilityCustomAction(name: entry.title) { [weak self] _ in
                    self?.perform(entry.slot, cell)
                    return true
                }
            }
            return view
        }

        private func header(ofSection index: Int) -> FeedCell? { headers.indices.contains(index) ? headers[index] : nil }

        private func title(of header: FeedCell) -> String {
            header.bindings.sorted { $0.key < $1.key }.compactMap(\.value.text).joined(separator: " ")
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
            if hasFooter != (model.nextError != nil) {
                hasFooter.toggle()
                collectionViewLayout.invalidateLayout()
            }
            showOverlays()
        }

        // MARK: Layout

        private func height(of cell: FeedCell) -> CGFloat {
            cell.size.height(textScale: UIFontMetrics.default.scaledValue(for: 100, compatibleWith: traitCollection) / 100)
        }

        private func disclosureHeight(of cell: FeedCell) -> CGFloat {
            model.texts.disclosure(of: cell) == nil ? 0 : UIFont.preferredFont(forTextStyle: .caption1).lineHeight.rounded(.up)
        }

        open func collectionView(
            _ collectionView: UICollectionView, layout collectionViewLayout: UICollectionViewLayout, sizeForItemAt indexPath: IndexPath
        ) -> CGSize {
            guard let key = dataSource?.itemIdentifier(for: indexPath), let cell = entries[key] else { return .zero }
            let height = height(of: cell) + disclosureHeight(of: cell)
            return CGSize(width: min(cell.size.width, collectionView.bounds.width), height: height)
        }

        open func collectionView(
            _ collectionView: UICollectionView, layout collectionViewLayout: UICollectionViewLayout,
            referenceSizeForHeaderInSection section: Int
        ) -> CGSize {
            guard let header = header(ofSection: section) else { return .zero }
            if let identifier = header.identifier, bindings[identifier] != nil {
                return CGSize(width: collectionView.bounds.width, height: height(of: header))
            }
            guard !title(of: header).isEmpty else { return .zero }
            return CGSize(width: collectionView.bounds.width, height: UIFont.preferredFont(forTextStyle: .headline).lineHeight + 16)
        }

        open func collectionView(
            _ collectionView: UICollectionView, layout collectionViewLayout: UICollectionViewLayout,
            referenceSizeForFooterInSection section: Int
        ) -> CGSize {
            guard hasFooter, section == collectionView.numberOfSections - 1 else { return .zero }
            return CGSize(width: collectionView.bounds.width, height: UIFont.preferredFont(forTextStyle: .body).lineHeight + 32)
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
            retryButton.setTitle(model.texts.retry, for: .normal)
            retryButton.addAction(UIAction { [weak self] _ in self?.retry() }, for: .touchUpInside)
            stateView.axis = .vertical
            stateView.alignment = .center
            stateView.translatesAutoresizingMaskIntoConstraints = false
            for view in [stateLabel, retryButton] { stateView.addArrangedSubview(view) }
            let background = UIView()
            background.addSubview(stateView)
            stateView.centerYAnchor.constraint(equalTo: background.centerYAnchor).isActive = true
            stateView.leadingAnchor.constraint(equalTo: background.leadingAnchor, constant: 20).isActive = true
            stateView.trailingAnchor.constraint(equalTo: background.trailingAnchor, constant: -20).isActive = true
            collectionView.backgroundView = background
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
            noticeView.isHidden = model.notice == nil
            noticeLabel.text = model.notice?.message
            undoButton.isHidden = model.notice?.undo == nil
            retryButton.isHidden = true
            switch model.phase {
            case .loading: stateLabel.text = nil
            case .failed(let error):
                stateLabel.text = model.texts.failure(error)
                retryButton.isHidden = false
            case .loaded: stateLabel.text = model.sections == [.empty] ? model.texts.empty : nil
            }
        }
    }
#endif
