#if canImport(UIKit) && !os(tvOS) && !os(watchOS)
    import UIKit

    /// A flow layout with a line above each ad for its disclosure. The size of an item includes the line; the frame of its cell does not.
    final class FeedLayout: UICollectionViewFlowLayout {
        /// Returns the height of the line above a cell; 0 if it has no disclosure.
        var disclosureHeight: (IndexPath) -> CGFloat = { _ in 0 }

        override func layoutAttributesForElements(in rect: CGRect) -> [UICollectionViewLayoutAttributes]? {
            super.layoutAttributesForElements(in: rect)?.map { attributes in
                guard attributes.representedElementCategory == .cell else { return attributes }
                return layoutAttributesForItem(at: attributes.indexPath) ?? attributes
            }
        }

        override func layoutAttributesForItem(at indexPath: IndexPath) -> UICollectionViewLayoutAttributes? {
            let attributes = super.layoutAttributesForItem(at: indexPath)
            let height = disclosureHeight(indexPath)
            // The superclass caches its attributes, so that only a copy may be changed.
            guard height > 0, let lower = attributes?.copy() as? UICollectionViewLayoutAttributes else { return attributes }
            lower.frame.origin.y += height
            lower.frame.size.height -= height
            return lower
        }
    }

    /// The view of a cell without a registered class.
    final class PlaceholderCell: UICollectionViewCell {
        override init(frame: CGRect) {
            super.init(frame: frame)
            contentView.backgroundColor = .secondarySystemBackground
        }

        required init?(coder: NSCoder) { nil }
    }

    /// The view of a section header without a registered class.
    final class HeaderView: UICollectionReusableView {
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

    /// The button below the last cell if the next page cannot be loaded.
    final class FooterView: UICollectionReusableView {
        private let button = UIButton(type: .system)
        private var onRetry: () -> Void = {}

        override init(frame: CGRect) {
            super.init(frame: frame)
            button.frame = bounds
            button.autoresizingMask = [.flexibleWidth, .flexibleHeight]
            button.addAction(UIAction { [weak self] _ in self?.onRetry() }, for: .touchUpInside)
            addSubview(button)
        }

        required init?(coder: NSCoder) { nil }

        func show(_ title: String?, onRetry: @escaping () -> Void) {
            button.setTitle(title, for: .normal)
            self.onRetry = onRetry
        }
    }

    /// The disclosure in the line above an ad. It is outside of the cell's bounds, so that it covers no content.
    final class DisclosureLabel: UILabel {
        private var clipsCell = false

        static func show(_ text: String?, in cell: UICollectionViewCell) {
            let known = cell.subviews.lazy.compactMap { $0 as? DisclosureLabel }.first
            guard let text else {
                if let known { cell.clipsToBounds = known.clipsCell }
                known?.removeFromSuperview()
                return
            }
            let label = known ?? DisclosureLabel(frame: .zero)
            label.text = text
            label.font = .preferredFont(forTextStyle: .caption1)
            label.adjustsFontForContentSizeCategory = true
            if known == nil { label.clipsCell = cell.clipsToBounds }
            cell.clipsToBounds = false
            guard known == nil else { return }
            label.translatesAutoresizingMaskIntoConstraints = false
            cell.addSubview(label)
            label.bottomAnchor.constraint(equalTo: cell.topAnchor).isActive = true
            label.leadingAnchor.constraint(equalTo: cell.leadingAnchor).isActive = true
            label.trailingAnchor.constraint(equalTo: cell.trailingAnchor).isActive = true
        }
    }
#endif
