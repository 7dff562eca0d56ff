#if canImport(UIKit) && !os(tvOS) && !os(watchOS)
    import IntertwineClient
    import IntertwineUI
    import UIKit

    /// Returns a controller with a feed in a collection view.
    @MainActor func peopleController(_ client: FeedClient) -> UIViewController {
        let feed = FeedViewController(client: client)
        feed.register(PictureCell.self, for: "UserSnapshotCollectionViewCell", "CircularUserCollectionViewCell") { [weak feed] view, cell in
            view.name.text = cell.bindings["username"]?.text
            feed?.load("avatar", of: cell, into: view.picture)
        }
        feed.register(PictureCell.self, for: "AdvertisementCollectionViewCell") { [weak feed] view, cell in
            feed?.load("content", of: cell, into: view.picture)
        }
        return feed
    }

    /// A name over a picture.
    final class PictureCell: UICollectionViewCell {
        let name = UILabel()
        let picture = UIImageView()

        override init(frame: CGRect) {
            super.init(frame: frame)
            for view in [picture, name] as [UIView] {
                view.frame = contentView.bounds
                view.autoresizingMask = [.flexibleWidth, .flexibleHeight]
                contentView.addSubview(view)
            }
        }

        required init?(coder: NSCoder) { nil }
    }
#endif
