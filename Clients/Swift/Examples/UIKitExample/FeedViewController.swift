#if canImport(UIKit)
    import IntertwineClient
    import UIKit

    /// A feed in a collection view: cells registered by identifier, batch updates, pictures that go with their cell, dismissal with undo.
    final class FeedViewController: UICollectionViewController, UICollectionViewDelegateFlowLayout {
        private let registry = CellRegistry<UICollectionViewCell>()
        private let list: FeedList
        private let actions: Actions
        private let images: ImageLoader
        private let impressions: Impressions
        private var sections: [FeedSection] = []
        private var tasks: [Task<Void, Never>] = []
        private var pictures: [ObjectIdentifier: Task<Void, Never>] = [:]
        private var lastUndo: Performance.Undo?

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
                Task { [list] in _ = try? await list.loadNext() },
                Task { [list] in await list.follow() },
                Task { [weak self, updates = list.updates] in
                    for await update in updates { await self?.apply(update) }
                },
            ]
        }

        deinit {
            for task in tasks { task.cancel() }
        }

        private func apply(_ update: FeedUpdate) async {
            await withCheckedContinuation { done in
                collectionView.performBatchUpdates { [self] in
                    sections = update.sections
                    collectionView.deleteSections(update.removedSections)
                    collectionView.deleteItems(at: update.removed)
                    collectionView.insertSections(update.insertedSections)
                    collectionView.insertItems(at: update.inserted)
                    for move in update.moved { collectionView.moveItem(at: move.from, to: move.to) }
                } completion: { _ in
                    done.resume()
                }
            }
            collectionView.reconfigureItems(at: update.reconfigured)
        }

        override func numberOfSections(in collectionView: UICollectionView) -> Int { sections.count }

        override func collectionView(_ collectionView: UICollectionView, numberOfItemsInSection section: Int) -> Int {
            sections[section].cells.count
        }

        override func collectionView(_ collectionView: UICollectionView, cellForItemAt place: IndexPath) -> UICollectionViewCell {
            let cell = sections[place.section].cells[place.item]
            let view =
                registry.dequeue(cell) { collectionView.dequeueReusableCell(withReuseIdentifier: $0, for: place) } ?? UserCell()
            registry.bind(cell, to: view)
            pictures[ObjectIdentifier(view)]?.cancel()
            pictures[ObjectIdentifier(view)] = Task { [images, scale = traitCollection.displayScale] in
                for await part in images.pictures(for: cell, scale: scale) { (view as? UserCell)?.show(part) }
            }
            return view
        }

        func collectionView(
            _ collectionView: UICollectionView, layout: UICollectionViewLayout, sizeForItemAt place: IndexPath
        ) -> CGSize {
            let size = registry.size(of: sections[place.section].cells[place.item], within: collectionView.bounds.width)
            return CGSize(width: size.width, height: size.height)
        }

        override func collectionView(_ view: UICollectionView, didEndDisplaying cell: UICollectionViewCell, forItemAt: IndexPath) {
            pictures.removeValue(forKey: ObjectIdentifier(cell))?.cancel()
        }

        override func collectionView(_ collectionView: UICollectionView, didSelectItemAt place: IndexPath) {
            let cell = sections[place.section].cells[place.item]
            Task {
                switch try await actions.perform("selection", of: cell) {
                case .link(let url): await UIApplication.shared.open(url)
                case .answered(let answer): show(answer.presentation)
                case .queued, .nothing: break
                }
            }
        }

        /// The cell leaves at once, and comes back where the server refuses.
        func dismiss(_ cell: FeedCell) async throws {
            lastUndo = try await actions.perform("dismissal", of: cell, showing: .hiding(cell, in: list)).undo
        }

        func undoDismissal() async throws {
            guard let undo = lastUndo else { return }
            try await actions.undo(undo)
        }

        override func scrollViewDidScroll(_ scrollView: UIScrollView) {
            let window = CGRect(origin: scrollView.contentOffset, size: scrollView.bounds.size)
            let sights = collectionView.indexPathsForVisibleItems.compactMap { place -> Impressions.Sight? in
                guard let frame = collectionView.layoutAttributesForItem(at: place)?.frame, frame.width > 0, frame.height > 0 else {
                    return nil
                }
                let seen = frame.intersection(window)
                let share = seen.isNull ? 0 : seen.width * seen.height / (frame.width * frame.height)
                return Impressions.Sight(sections[place.section].cells[place.item], share: share)
            }
            Task { await impressions.see(sights) }
            if window.maxY > scrollView.contentSize.height - 2 * window.height { Task { try? await list.loadNext() } }
        }

        private func show(_ presentation: JSONValue?) {
            guard presentation?["screen"]?.text == "ImageZoom" else { return }
            present(UIViewController(), animated: true)
        }
    }

    /// Shows a name and pictures by part.
    final class UserCell: UICollectionViewCell {
        private let name = UILabel()
        private let picture = UIImageView()

        func show(_ bindings: [String: Binding]) {
            name.text = bindings["username"]?.text
            picture.image = nil
            for view in [picture, name] where view.superview == nil {
                view.frame = contentView.bounds
                view.autoresizingMask = [.flexibleWidth, .flexibleHeight]
                contentView.addSubview(view)
            }
        }

        func show(_ part: CellPicture) {
            switch part {
            case .placeholder: picture.backgroundColor = .secondarySystemBackground
            case .picture(_, let data, _): picture.image = UIImage(data: data)
            case .missing: break
            }
        }
    }
#endif
