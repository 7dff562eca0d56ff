/// A condition with its values read as the field's type reads them.
struct CellCondition: Sendable {
    enum Test: Sendable {
        case texts([String])
        case numbers([Double])
        case present(Bool)
        case between(Double, Double)
    }

    let reference: FieldReference
    let test: Test

    /// - Throws: ``ItemFault`` where the field is not what the kind declares.
    func holds(for values: FieldValues) throws(ItemFault) -> Bool {
        let text = try values.text(reference)
        switch test {
        case .present(let isPresent): return (text != nil) == isPresent
        case .texts(let texts): return text.map(texts.contains) ?? false
        case .numbers(let numbers): return text.flatMap { Double($0) }.map(numbers.contains) ?? false
        case .between(let minimum, let maximum): return text.flatMap { Double($0) }.map { minimum <= $0 && $0 <= maximum } ?? false
        }
    }

    /// Whether it can hold for items of a type: decided for good where it asks for nothing else.
    func admits(variant: String) -> Bool {
        guard reference == .variant, case .texts(let variants) = test else { return true }
        return variants.contains(variant)
    }
}
