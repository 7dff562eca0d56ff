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
}
