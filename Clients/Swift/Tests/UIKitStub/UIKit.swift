// A stub of the UIKit names that the example uses, without behaviour. On systems without UIKit, the compiler checks the example against it.
@_exported public import Foundation

@MainActor public protocol UICollectionViewDelegateFlowLayout: AnyObject {
    func collectionView(
        _ collectionView: UICollectionView, layout: UICollectionViewLayout, sizeForItemAt indexPath: IndexPath
    ) -> CGSize
}

@MainActor open class UIView: NSObject {
    public struct AutoresizingMask: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let flexibleWidth = AutoresizingMask(rawValue: 2)
        public static let flexibleHeight = AutoresizingMask(rawValue: 16)
    }

    open var frame = CGRect()
    open var bounds = CGRect()
    open var autoresizingMask: AutoresizingMask = []
    open var backgroundColor: UIColor?
    open private(set) weak var superview: UIView?

    public convenience override init() { self.init(frame: CGRect()) }
    public init(frame: CGRect) { super.init() }
    public required init?(coder: NSCoder) { nil }
    open func addSubview(_ view: UIView) {}
}

@MainActor open class UIScrollView: UIView {
    open var contentOffset = CGPoint()
    open var contentSize = CGSize()
}

@MainActor open class UILabel: UIView {
    open var text: String?
}

@MainActor open class UIImageView: UIView {
    open var image: UIImage?
}

open class UIImage: NSObject, @unchecked Sendable {
    public init?(data: Data) {}
}

open class UIColor: NSObject, @unchecked Sendable {
    public static var secondarySystemBackground: UIColor { UIColor() }
}

@MainActor public final class UITraitCollection: NSObject {
    public var displayScale: CGFloat { 1 }
}

@MainActor open class UIViewController: NSObject {
    open var traitCollection: UITraitCollection { UITraitCollection() }

    public convenience override init() { self.init(nibName: nil, bundle: nil) }
    public init(nibName: String?, bundle: Bundle?) { super.init() }
    public required init?(coder: NSCoder) { nil }
    open func viewDidLoad() {}
    open func present(_ controller: UIViewController, animated: Bool, completion: (() -> Void)? = nil) {}
}

@MainActor open class UICollectionViewLayout: NSObject {}
@MainActor open class UICollectionViewFlowLayout: UICollectionViewLayout {}

@MainActor public final class UICollectionViewLayoutAttributes: NSObject {
    public var frame = CGRect()
}

@MainActor open class UICollectionViewCell: UIView {
    open var contentView: UIView { self }
}

@MainActor open class UICollectionView: UIScrollView {
    open var indexPathsForVisibleItems: [IndexPath] { [] }
    open var backgroundView: UIView?

    open func register(_ cellClass: AnyClass?, forCellWithReuseIdentifier identifier: String) {}
    open func dequeueReusableCell(withReuseIdentifier identifier: String, for indexPath: IndexPath) -> UICollectionViewCell {
        UICollectionViewCell()
    }
    open func layoutAttributesForItem(at indexPath: IndexPath) -> UICollectionViewLayoutAttributes? { nil }
    open func performBatchUpdates(_ updates: (() -> Void)?, completion: ((Bool) -> Void)? = nil) {}
    open func deleteSections(_ sections: IndexSet) {}
    open func insertSections(_ sections: IndexSet) {}
    open func reloadSections(_ sections: IndexSet) {}
    open func deleteItems(at indexPaths: [IndexPath]) {}
    open func insertItems(at indexPaths: [IndexPath]) {}
    open func moveItem(at indexPath: IndexPath, to newIndexPath: IndexPath) {}
    open func reconfigureItems(at indexPaths: [IndexPath]) {}
}

@MainActor open class UICollectionViewController: UIViewController {
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var collectionView: UICollectionView! { nil }

    public init(collectionViewLayout layout: UICollectionViewLayout) { super.init(nibName: nil, bundle: nil) }
    public required init?(coder: NSCoder) { nil }
    open func numberOfSections(in collectionView: UICollectionView) -> Int { 0 }
    open func collectionView(_ collectionView: UICollectionView, numberOfItemsInSection section: Int) -> Int { 0 }
    open func collectionView(_ collectionView: UICollectionView, cellForItemAt indexPath: IndexPath) -> UICollectionViewCell {
        UICollectionViewCell()
    }
    open func collectionView(
        _ collectionView: UICollectionView, didEndDisplaying cell: UICollectionViewCell, forItemAt indexPath: IndexPath
    ) {}
    open func collectionView(_ collectionView: UICollectionView, didSelectItemAt indexPath: IndexPath) {}
    open func scrollViewDidScroll(_ scrollView: UIScrollView) {}
}

@MainActor public final class UIApplication: NSObject {
    public struct OpenExternalURLOptionsKey: Hashable, Sendable {}

    public static let shared = UIApplication()

    @discardableResult
    public func open(_ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:]) async -> Bool { false }
}

extension IndexPath {
    public var section: Int { self[0] }
    public var item: Int { self[1] }
}

extension URL {
    /// Foundation's own, where UIKit is.
    public static var applicationSupportDirectory: URL { URL(fileURLWithPath: "/") }
}
