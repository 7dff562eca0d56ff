/// A key as someone wrote it down.
struct WrittenKey {
    let name: SettingName
    let spelled: String
    let origin: SettingOrigin
    /// Nothing stands behind it.
    let isEmpty: Bool

    init(spelled: String, origin: SettingOrigin, isEmpty: Bool = false) {
        name = SettingName(spelled: spelled)
        self.spelled = spelled
        self.origin = origin
        self.isEmpty = isEmpty
    }

    /// Whether it is spelled as settings are looked up: a flag is taken in any spelling, a file's key in kebab-case or in camelCase.
    var isRead: Bool {
        guard case .file = origin else { return true }
        return spelled == name.key || spelled == name.camelCaseComponents.joined(separator: ".")
    }
}
