// A stub of the UIKit names that the controller and the example use, without behaviour. On systems without UIKit, the compiler checks them
// against it. The declarations are written as those in the SDK.
@_exported public import Foundation

@MainActor public class NSLayoutConstraint: NSObject {
    public enum Axis: Int, Sendable { case horizontal, vertical }
    public var isActive = false
}

@MainActor public class NSLayoutAnchor<AnchorType: AnyObject>: NSObject {
    public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>) -> NSLayoutConstraint { NSLayoutConstraint() }
    public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>, constant: CGFloat) -> NSLayoutConstraint { NSLayoutConstraint() }
}
@MainActor public final class NSLayoutXAxisAnchor: NSLayoutAnchor<NSLayoutXAxisAnchor> {}
@MainActor public final class NSLayoutYAxisAnchor: NSLayoutAnchor<NSLayoutYAxisAnchor> {}

@MainActor open class UILayoutGuide: NSObject {
    public var centerXAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    public var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    public var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
}

public struct UIEdgeInsets: Sendable {
    public init(top: CGFloat, left: CGFloat, bottom: CGFloat, right: CGFloat) {}
}

public struct UIAccessibilityTraits: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static let header = UIAccessibilityTraits(rawValue: 1)
}

public enum UIAccessibility {
    public struct Notification: Sendable {
        public static let announcement = Notification()
    }
    @MainActor public static var isReduceMotionEnabled: Bool { false }
    @MainActor public static func post(notification: Notification, argument: Any?) {}
}

@MainActor open class UIAccessibilityCustomAction: NSObject {
    public typealias Handler = (UIAccessibilityCustomAction) -> Bool
    public init(name: String, actionHandler: @escaping Handler) {}
}

@MainActor open class UIResponder: NSObject {
    open var isAccessibilityElement = false
    open var accessibilityLabel: String?
    open var accessibilityTraits: UIAccessibilityTraits = []
    open var accessibilityCustomActions: [UIAccessibilityCustomAction]?
}

@MainActor open class UIView: UIResponder {
    public struct AutoresizingMask: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let flexibleWidth = AutoresizingMask(rawValue: 2)
        public static let flexibleHeight = AutoresizingMask(rawValue: 16)
    }

    open var frame = CGRect()
    open var bounds = CGRect()
    open var isHidden = false
    open var clipsToBounds = false
    open var layoutMargins = UIEdgeInsets(top: 0, left: 0, bottom: 0, right: 0)
    open var autoresizingMask: AutoresizingMask = []
    open var translatesAutoresizingMaskIntoConstraints = true
    open var backgroundColor: UIColor?
    open var safeAreaLayoutGuide: UILayoutGuide { UILayoutGuide() }
    open var centerXAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var centerYAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open private(set) weak var superview: UIView?
    open var subviews: [UIView] { [] }

    public convenience override init() { self.init(frame: CGRect()) }
    public init(frame: CGRect) { super.init() }
    public required init?(coder: NSCoder) { nil }
    open func addSubview(_ view: UIView) {}
    open func removeFromSuperview() {}
}

@MainActor open class UIScrollView: UIView {
    open var contentOffset = CGPoint()
    open var contentSize = CGSize()
    open var refreshControl: UIRefreshControl?
    open func setContentOffset(_ contentOffset: CGPoint, animated: Bool) {}
}

@MainActor open class UIStackView: UIView {
    public enum Alignment: Int, Sendable { case fill, leading, firstBaseline, center, trailing, lastBaseline }
    open var axis = NSLayoutConstraint.Axis.horizontal
    open var alignment = Alignment.fill
    open var spacing: CGFloat = 0
    open var isLayoutMarginsRelativeArrangement = false
    open func addArrangedSubview(_ view: UIView) {}
}

public enum NSTextAlignment: Int, Sendable { case left, center, right, justified, natural }

@MainActor open class UILabel: UIView {
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var font: UIFont!
    open var text: String?
    open var numberOfLines = 1
    open var textAlignment = NSTextAlignment.natural
    open var adjustsFontForContentSizeCategory = false
}

open class UIFont: NSObject, @unchecked Sendable {
    public struct TextStyle: Sendable {
        public static let headline = TextStyle()
        public static let body = TextStyle()
        public static let caption1 = TextStyle()
    }
    open var lineHeight: CGFloat { 0 }
    public class func preferredFont(forTextStyle style: TextStyle) -> UIFont { UIFont() }
}

open class UIFontMetrics: NSObject, @unchecked Sendable {
    public class var `default`: UIFontMetrics { UIFontMetrics() }
    open func scaledValue(for value: CGFloat) -> CGFloat { value }
    open func scaledValue(for value: CGFloat, compatibleWith traitCollection: UITraitCollection?) -> CGFloat { value }
}

@MainActor open class UIImageView: UIView {
    open var image: UIImage?
}

open class UIImage: NSObject, @unchecked Sendable {
    public init?(data: Data) {}
}

open class UIColor: NSObject, @unchecked Sendable {
    public class var secondarySystemBackground: UIColor { UIColor() }
}

@MainActor open class UITraitCollection: NSObject {
    public var displayScale: CGFloat { 1 }
    public var preferredContentSizeCategory: UIContentSizeCategory { UIContentSizeCategory() }
}

public struct UIContentSizeCategory: Hashable, Sendable {}

@MainActor open class UIMenuElement: NSObject {}

@MainActor open class UIAction: UIMenuElement {
    public convenience init(title: String = "", handler: @escaping (UIAction) -> Void) { self.init() }
}

@MainActor open class UIMenu: UIMenuElement {
    public convenience init(title: String = "", children: [UIMenuElement] = []) { self.init() }
}

@MainActor open class UIContextMenuConfiguration: NSObject {
    public convenience init(
        identifier: (any NSCopying)? = nil, previewProvider: (() -> UIViewController?)? = nil,
        actionProvider: (([UIMenuElement]) -> UIMenu?)? = nil
    ) { self.init() }
}

@MainActor open class UIControl: UIView {
    public struct Event: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let touchUpInside = Event(rawValue: 64)
        public static let valueChanged = Event(rawValue: 4096)
    }
    public struct State: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let normal: State = []
    }
    open var isSelected = false
    open func addAction(_ action: UIAction, for controlEvents: Event) {}
}

@MainActor open class UIRefreshControl: UIControl {
    open func endRefreshing() {}
}

@MainActor open class UIButton: UIControl {
    public enum ButtonType: Int, Sendable { case custom, system }
    public struct Configuration: Sendable {
        public static func filled() -> Configuration { Configuration() }
    }
    public convenience init(type buttonType: ButtonType) { self.init(frame: CGRect()) }
    open var configuration: Configuration?
    open func setTitle(_ title: String?, for state: UIControl.State) {}
}

@MainActor open class UIViewController: UIResponder {
    open var traitCollection: UITraitCollection { UITraitCollection() }
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var view: UIView!
    open var isViewLoaded: Bool { false }
    open var navigationController: UINavigationController? { nil }

    public convenience override init() { self.init(nibName: nil, bundle: nil) }
    public init(nibName: String?, bundle: Bundle?) { super.init() }
    public required init?(coder: NSCoder) { nil }
    open func viewDidLoad() {}
    open func viewDidAppear(_ animated: Bool) {}
    open func viewDidDisappear(_ animated: Bool) {}
    open func traitCollectionDidChange(_ previousTraitCollection: UITraitCollection?) {}
}

@MainActor open class UINavigationController: UIViewController {
    open func pushViewController(_ viewController: UIViewController, animated: Bool) {}
}

@MainActor open class UICollectionViewLayout: NSObject {
    open func invalidateLayout() {}
    open func layoutAttributesForElements(in rect: CGRect) -> [UICollectionViewLayoutAttributes]? { nil }
    open func layoutAttributesForItem(at indexPath: IndexPath) -> UICollectionViewLayoutAttributes? { nil }
}
@MainActor open class UICollectionViewFlowLayout: UICollectionViewLayout {}

@MainActor public final class UICollectionViewLayoutAttributes: NSObject {
    public var frame = CGRect()
    public var indexPath = IndexPath()
    public var representedElementCategory: UICollectionView.ElementCategory { .cell }
}

@MainActor open class UICollectionReusableView: UIView {}

@MainActor open class UICollectionViewCell: UICollectionReusableView {
    open var contentView: UIView { self }
}

@MainActor public protocol UIScrollViewDelegate: AnyObject {}
@MainActor public protocol UICollectionViewDelegate: UIScrollViewDelegate {}
@MainActor public protocol UICollectionViewDelegateFlowLayout: UICollectionViewDelegate {
    func collectionView(
        _ collectionView: UICollectionView, layout collectionViewLayout: UICollectionViewLayout, sizeForItemAt indexPath: IndexPath
    ) -> CGSize
    func collectionView(
        _ collectionView: UICollectionView, layout collectionViewLayout: UICollectionViewLayout,
        referenceSizeForHeaderInSection section: Int
    ) -> CGSize
    func collectionView(
        _ collectionView: UICollectionView, layout collectionViewLayout: UICollectionViewLayout,
        referenceSizeForFooterInSection section: Int
    ) -> CGSize
}

@MainActor public protocol UICollectionViewDataSourcePrefetching: AnyObject {
    func collectionView(_ collectionView: UICollectionView, prefetchItemsAt indexPaths: [IndexPath])
    func collectionView(_ collectionView: UICollectionView, cancelPrefetchingForItemsAt indexPaths: [IndexPath])
}

@MainActor open class UICollectionView: UIScrollView {
    public enum ElementCategory: UInt, Sendable { case cell, supplementaryView, decorationView }
    public class var elementKindSectionHeader: String { "" }
    public class var elementKindSectionFooter: String { "" }

    open var numberOfSections: Int { 0 }

    open var indexPathsForVisibleItems: [IndexPath] { [] }
    open var backgroundView: UIView?
    open weak var prefetchDataSource: (any UICollectionViewDataSourcePrefetching)?

    open func register(_ cellClass: AnyClass?, forCellWithReuseIdentifier identifier: String) {}
    open func register(_ viewClass: AnyClass?, forSupplementaryViewOfKind elementKind: String, withReuseIdentifier identifier: String) {}
    open func dequeueReusableCell(withReuseIdentifier identifier: String, for indexPath: IndexPath) -> UICollectionViewCell {
        UICollectionViewCell()
    }
    open func dequeueReusableSupplementaryView(
        ofKind elementKind: String, withReuseIdentifier identifier: String, for indexPath: IndexPath
    ) -> UICollectionReusableView { UICollectionReusableView() }
    open func layoutAttributesForItem(at indexPath: IndexPath) -> UICollectionViewLayoutAttributes? { nil }
    open func performBatchUpdates(_ updates: (() -> Void)?, completion: ((Bool) -> Void)? = nil) {}
    open func deleteSections(_ sections: IndexSet) {}
    open func insertSections(_ sections: IndexSet) {}
    open func deleteItems(at indexPaths: [IndexPath]) {}
    open func insertItems(at indexPaths: [IndexPath]) {}
    open func moveItem(at indexPath: IndexPath, to newIndexPath: IndexPath) {}
    open func reconfigureItems(at indexPaths: [IndexPath]) {}
    open func deselectItem(at indexPath: IndexPath, animated: Bool) {}
}

@MainActor open class UICollectionViewController: UIViewController, UICollectionViewDelegate {
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var collectionView: UICollectionView! { nil }
    open var collectionViewLayout: UICollectionViewLayout { UICollectionViewLayout() }

    public init(collectionViewLayout layout: UICollectionViewLayout) { super.init(nibName: nil, bundle: nil) }
    public required init?(coder: NSCoder) { nil }
    open func collectionView(_ collectionView: UICollectionView, didSelectItemAt indexPath: IndexPath) {}
    open func collectionView(
        _ collectionView: UICollectionView, contextMenuConfigurationForItemsAt indexPaths: [IndexPath], point: CGPoint
    ) -> UIContextMenuConfiguration? { nil }
    open func scrollViewDidScroll(_ scrollView: UIScrollView) {}
}

public struct NSDiffableDataSourceSnapshot<SectionIdentifierType: Hashable & Sendable, ItemIdentifierType: Hashable & Sendable>: Sendable {
    public init() {}
    public mutating func appendSections(_ identifiers: [SectionIdentifierType]) {}
    public mutating func appendItems(_ identifiers: [ItemIdentifierType], toSection sectionIdentifier: SectionIdentifierType? = nil) {}
    public mutating func reconfigureItems(_ identifiers: [ItemIdentifierType]) {}
}

@MainActor
open class UICollectionViewDiffableDataSource<SectionIdentifierType: Hashable & Sendable, ItemIdentifierType: Hashable & Sendable>:
    NSObject
{
    public typealias CellProvider = (UICollectionView, IndexPath, ItemIdentifierType) -> UICollectionViewCell?
    public typealias SupplementaryViewProvider = (UICollectionView, String, IndexPath) -> UICollectionReusableView?

    public init(collectionView: UICollectionView, cellProvider: @escaping CellProvider) {}
    public var supplementaryViewProvider: SupplementaryViewProvider?
    open func apply(
        _ snapshot: NSDiffableDataSourceSnapshot<SectionIdentifierType, ItemIdentifierType>, animatingDifferences: Bool = true,
        completion: (() -> Void)? = nil
    ) {}
    open func itemIdentifier(for indexPath: IndexPath) -> ItemIdentifierType? { nil }
}

@MainActor open class UIApplication: UIResponder {
    public struct OpenExternalURLOptionsKey: Hashable, Sendable {}

    public class var shared: UIApplication { UIApplication() }

    open func open(
        _ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:], completionHandler completion: ((Bool) -> Void)? = nil
    ) {}
}

extension IndexPath {
    public var section: Int { self[0] }
    public var item: Int { self[1] }
}
