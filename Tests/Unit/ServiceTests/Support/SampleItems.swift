/// Lines of the import format: users with an image in the binary, and an ad.
func sampleItems(users: Int) -> String {
    (0..<users).map { sampleUser("\($0)") + "\n" }.joined()
        + #"{"kind":"ad","id":1,"contentUrl":"https://example.com/a.png","clickthroughUrl":"https://example.com/","type":"image"}"#
}

func sampleUser(_ id: String) -> String {
    #"{"kind":"user","id":"\#(id)","username":"User \#(id)","avatarUrl":"http://pictures.sample.invalid/avatar-0.png","type":"regular"}"#
}
