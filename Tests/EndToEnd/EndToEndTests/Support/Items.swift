/// Lines of the import format.
enum Items {
    static func user(_ id: String, _ type: String = "regular", background: Bool = true) -> String {
        let file = id.replacing(" ", with: "-")
        let image = background ? #","backgroundUrl":"https://pictures.example.com/\#(file)-b.png""# : ""
        return
            #"{"kind":"user","id":"\#(id)","username":"User \#(id)","avatarUrl":"https://pictures.example.com/\#(file).png"\#(image),"type":"\#(type)"}"#
            + "\n"
    }

    static func users(_ count: Int) -> String {
        (0..<count).map { user("u\($0)", $0 % 4 == 0 ? "featured" : "regular") }.joined()
    }

    /// `house`: false for an ad that campaigns alone show.
    static func advertisement(_ id: Int, _ type: String = "image", to url: String? = nil, house: Bool = true) -> String {
        let url = url ?? "https://shop.example.com/\(id)?a=b&c=d"
        return
            #"{"kind":"ad","id":\#(id),"contentUrl":"https://ads.example.com/\#(id).png","clickthroughUrl":"\#(url)","type":"\#(type)"\#(house ? "" : #","house":false"#)}"#
            + "\n"
    }

    /// `reserved`: The ads that campaigns alone show.
    static func advertisements(_ count: Int, reserved: Set<Int> = []) -> String {
        (1...count).map { advertisement($0, house: !reserved.contains($0)) }.joined()
    }
}
