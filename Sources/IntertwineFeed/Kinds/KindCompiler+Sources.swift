/// Where the parts of cells and the arguments of screens get their values from.
extension KindCompiler {
    func sources(
        _ declared: [BindingDeclaration], at path: [String]
    ) throws(KindFault) -> [(part: String, source: BindingSource)] {
        var sources: [(part: String, source: BindingSource)] = []
        for (index, binding) in declared.enumerated() {
            let path = path + [binding.part]
            guard !binding.part.isEmpty, binding.part.utf8.count <= 128 else { throw KindFault(path, "a part's name has 1 to 128 bytes") }
            guard !declared[..<index].contains(where: { $0.part == binding.part }) else { throw KindFault(path, "is bound twice") }
            sources.append((binding.part, try source(binding, at: path)))
        }
        return sources
    }

    private func source(_ binding: BindingDeclaration, at path: [String]) throws(KindFault) -> BindingSource {
        let isTemplate = binding.source.contains("{{")
        do {
            switch binding.form {
            case .text where isTemplate: return .template(try TextTemplate(binding.source, for: .text, reading: references))
            case .link where isTemplate: return .linkTemplate(try LinkTemplate(binding.source, reading: references))
            case .text: return .text(try reference(binding.source, [.text, .number, .date, .url, .boolean], at: []))
            case .image: return .image(try reference(binding.source, [.image], at: []))
            case .date: return .date(try reference(binding.source, [.date], at: []))
            case .number: return .number(try reference(binding.source, [.number], at: []))
            case .link: return .link(try reference(binding.source, [.url], at: []))
            }
        } catch {
            throw KindFault(path, error.reason)
        }
    }
}
