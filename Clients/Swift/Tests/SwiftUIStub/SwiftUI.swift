// A stub of the SwiftUI names that the example uses, without behaviour. On systems without SwiftUI, the compiler checks the example against it.
@_exported public import Foundation

@MainActor public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError("a primitive view has no body") }
}

/// A view without a body of its own.
public protocol PrimitiveView: View where Body == Never {}

extension PrimitiveView {
    public var body: Never { fatalError("a primitive view has no body") }
}

public struct BuiltView: PrimitiveView {}

@MainActor @resultBuilder public enum ViewBuilder {
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> BuiltView { BuiltView() }
    public static func buildOptional(_ content: (any View)?) -> BuiltView { BuiltView() }
    public static func buildEither(first: any View) -> BuiltView { BuiltView() }
    public static func buildEither(second: any View) -> BuiltView { BuiltView() }
}

public struct Text: PrimitiveView {
    public init(_ content: some StringProtocol) {}
}

public struct Color: PrimitiveView, Sendable {
    public static let gray = Color()
}

public struct Image: PrimitiveView {
    public func resizable() -> Image { self }
}

public struct HStack: PrimitiveView {
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

public struct VStack: PrimitiveView {
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

public struct List: PrimitiveView {
    public init<Data: RandomAccessCollection, Row: View>(_ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> Row)
    where Data.Element: Identifiable {}
}

public struct AsyncImage: PrimitiveView {
    public init<Content: View, Placeholder: View>(
        url: URL?, scale: Double = 1, @ViewBuilder content: @escaping (Image) -> Content,
        @ViewBuilder placeholder: @escaping () -> Placeholder
    ) {}
}

extension View {
    public func frame(width: Double? = nil, height: Double? = nil) -> some View { self }
    public func scaledToFit() -> some View { self }
    public func accessibilityLabel(_ label: some StringProtocol) -> some View { self }
    public func task(_ action: @escaping @Sendable @MainActor () async -> Void) -> some View { self }
}

public protocol ObservableObject: AnyObject {}

@propertyWrapper public struct Published<Value> {
    public var wrappedValue: Value

    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

@MainActor @propertyWrapper public struct StateObject<Object: ObservableObject> {
    public let wrappedValue: Object

    public init(wrappedValue: @autoclosure @escaping () -> Object) {
        self.wrappedValue = wrappedValue()
    }
}
