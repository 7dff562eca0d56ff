extension BindingDeclaration.BindingFormat {
    /// The name of the format's binding type in JSON.
    var type: String { rawValue }
}
