#if canImport(UIKit)
    import IntertwineClient
    import UIKit

    /// A feed in a collection view: cells registered by identifier, batch updates, images that are cancelled with their cell, dismissal with undo.
    final class FeedViewController: UICollectionViewController, UICollectionViewDelegateFlowLayout {
        private let registry = CellRegistry<UICollectionViewCell>()
        private let list: FeedList
        private let actions: Actions
        private let images: ImageLoader
        private let impressions: Impressions
        private var sections = [FeedSection.empty]
        private var tasks: [Task<Void, Never>] = []
        private var imageTasks: [ObjectIdentifier: Task<Void, Never>] = [:]
        private var lastUndo: Invocation.Undo?

        init(server: URL, viewer: String) {
            registry.register("UserSnapshotCollectionViewCell", make: UserCell.init) { ($0 as? UserCell)?.show($1.bindings) }
            registry.register("CircularUserCollectionViewCell", make: UserCell.init) { ($0 as? UserCell)?.show($1.bindings) }
            registry.register("AdvertisementCollectionViewCell", make: UserCell.init) { ($0 as? UserCell)?.show($1.bindings) }
            var client = FeedClient(base: server, viewer: viewer)
            client.capabilities = registry.capabilities
            list = FeedList(client: client)
            let file = URL.applicationSupportDirectory.appending(path: "waiting-actions.json")
            actions = Actions(client: client, file: file)
            images = ImageLoader(client: client)
            impressions = Impressions(client: client)
            super.init(collectionViewLayout: UICollectionViewFlowLayout())
        }

        required init?(coder: NSCoder) { nil }

        override func viewDidLoad() {
            super.viewDidLoad()
            for identifier in registry.identifiers { collectionView.register(UserCell.self, forCellWithReuseIdentifier: identifier) }
            tasks = [
                Task { [weak self, updates = list.updates()] in
                    do {
                        for try await update in updates { await self?.apply(update) }
                    } catch {
                        self?.show(error)
                    }
                }
            ]
        }

        deinit {
            for task in tasks { task.cancel() }
        }

        private func apply(_ update: FeedUpdate) async {
            await withCheckedContinuation { done in
                collectionView.performBatchUpdates { [self] in
                    sections = update.sections
                    collectionView.deleteSections(update.sectionDeletions)
                    collectionView.deleteItems(at: update.deletions)
                    collectionView.insertSections(update.sectionInsertions)
                    collectionView.insertItems(at: update.insertions)
                    for move in update.moves { collectionView.moveItem(at: move.from, to: move.to) }
                } completion: { _ in
                    done.resume()
                }
            }
            collectionView.reconfigureItems(at: update.reconfigurations)
        }

        override func numberOfSections(in collectionView: UICollectionView) -> Int { sections.count }

        override func collectionView(_ collectionView: UICollectionView, numberOfItemsInSection section: Int) -> Int {
            sections[section].cells.count
        }

        override func collectionView(_ collectionView: UICollectionView, cellForItemAt indexPath: IndexPath) -> UICollectionViewCell {
            let cell = sections[indexPath.section].cells[indexPath.item]
            let view =
                registry.dequeue(cell) { collectionView.dequeueReusableCell(withReuseIdentifier: $0, for: indexPath) }
                ?? collectionView.dequeueReusableCell(withReuseIdentifier: "placeholder", for: indexPath)
            registry.bind(cell, to: view)
            imageTasks[ObjectIdentifier(view)]?.cancel()
            imageTasks[ObjectIdentifier(view)] = Task { [images, scale = traitCollection.displayScale] in
                for await part in images.images(for: cell, scale: scale) { (view as? UserCell)?.show(part) }
            }
            return view
        }

        func collectionView(
            _ collectionView: UICollectionView, layout: UICollectionViewLayout, sizeForItemAt indexPath: IndexPath
        ) -> CGSize {
            let size = registry.size(of: sections[indexPath.section].cells[indexPath.item], within: collectionView.bounds.width)
            return CGSize(width: size.width, height: size.height)
        }

        override func collectionView(_ view: UICollectionView, didEndDisplaying cell: UICollectionViewCell, forItemAt: IndexPath) {
            imageTasks.removeValue(forKey: ObjectIdentifier(cell))?.cancel()
        }

        override func collectionView(_ collectionView: UICollectionView, didSelectItemAt indexPath: IndexPath) {
            let cell = sections[indexPath.section].cells[indexPath.item]
            Task {
                switch try await actions.perform(.selection, of: cell) {
                case .link(let url): await UIApplication.shared.open(url)
                case .performed(let response):
                    show(response.presentation)
                    if let url = response.open { await UIApplication.shared.open(url) }
                case .queued, .noOperation: break
                }
            }
        }

        /// Hides the cell immediately. It returns if the server refuses.
        func dismiss(_ cell: FeedCell) async throws {
            lastUndo = try await actions.perform(.dismissal, of: cell, showing: .hiding(cell, in: list)).undo
        }

        func undoDismissal() async throws {
            guard let undo = lastUndo else { return }
            try await actions.undo(undo)
        }

        override func scrollViewDidScroll(_ scrollView: UIScrollView) {
            let window = CGRect(origin: scrollView.contentOffset, size: scrollView.bounds.size)
            let visibleCells = collectionView.indexPathsForVisibleItems.compactMap { indexPath -> Impressions.VisibleCell? in
                guard let frame = collectionView.layoutAttributesForItem(at: indexPath)?.frame, frame.width > 0, frame.height > 0 else {
                    return nil
                }
                let visible = frame.intersection(window)
                let share = visible.isNull ? 0 : visible.width * visible.height / (frame.width * frame.height)
                return Impressions.VisibleCell(sections[indexPath.section].cells[indexPath.item], share: share)
            }
            Task { await impressions.record(visible: visibleCells) }
            if window.maxY > scrollView.contentSize.height - 2 * window.height { Task { try? await list.loadNext() } }
        }

        private func show(_ error: any Error) {
            collectionView.backgroundView = UILabel()
        }

        private func show(_ presentation: JSONValue?) {
            guard presentation?["screen"]?.text == "ImageZoom" else { return }
            present(UIViewController(), animated: true)
        }
    }

    /// Shows a name and an image.
    final class UserCell: UICollectionViewCell {
        private let name = UILabel()
        private let imageView = UIImageView()

        func show(_ bindings: [String: CellBinding]) {
            name.text = bindings["username"]?.text
            imageView.image = nil
            for view in [imageView, name] where view.superview == nil {
                view.frame = contentView.bounds
                view.autoresizingMask = [.flexibleWidth, .flexibleHeight]
                contentView.addSubview(view)
            }
        }

        func show(_ part: CellImage) {
            switch part {
            case .placeholder: imageView.backgroundColor = .secondarySystemBackground
            case .image(_, let data, _): imageView.image = UIImage(data: data)
            case .failed: break
            }
        }
    }
#endif
