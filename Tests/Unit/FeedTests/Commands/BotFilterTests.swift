import Testing

@testable import IntertwineFeed

@Suite("Verdicts of requests")
struct BotFilterTests {
    static let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

    @Test(
        "Bots, prefetching and HEAD requests do not count",
        arguments: [
            (firefox, nil, false, Verdict.counted),
            ("curl/7.88.1", nil, false, .bot),
            (nil, nil, false, .bot),
            ("", nil, false, .bot),
            ("Mozilla/5.0 (compatible; Googlebot/2.1)", nil, false, .bot),
            ("CRAWL", nil, false, .bot),
            ("spide", nil, false, .counted),
            ("\u{17F}pider sp\u{ED}der", nil, false, .counted),
            (firefox, "prefetch", false, .prefetch),
            (firefox, "prefetch;prerender", false, .prefetch),
            (firefox, "Preview", false, .prefetch),
            (firefox, "other", false, .counted),
            (firefox, "prerender", false, .prefetch),
            ("ia_archiver (+http://www.alexa.com/site/help/webmasters)", nil, false, .bot),
            ("APIs-Google (+https://developers.google.com/webmasters/APIs-Google.html)", nil, false, .bot),
            ("Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)", nil, false, .bot),
            ("WhatsApp/2.23.20.0", nil, false, .bot),
            ("Mozilla/5.0 (Linux; Android 11; CUBOT X50) Chrome/120.0 Mobile", nil, false, .counted),
            ("Mozilla/5.0 (Linux; Android 11; CUBOT X50; compatible; Googlebot/2.1)", nil, false, .bot),
            (firefox, nil, true, .prefetch),
        ] as [(String?, String?, Bool, Verdict)])
    func table(userAgent: String?, purpose: String?, isHead: Bool, expected: Verdict) {
        #expect(BotFilter().verdict(userAgent: userAgent, purposes: purpose.map { ["x", $0] } ?? [], isHead: isHead) == expected)
    }

    /// Programs, by what they do.
    static let robots = [
        "GoogleOther", "Mozilla/5.0 (compatible; Google-InspectionTool/1.0;)", "Google-Read-Aloud", "python-requests/2.32.3",
        "python-httpx/0.27",
        "Python-urllib/3.12", "Python/3.11 aiohttp/3.9.1", "curl/8.5.0", "Wget/1.21", "Go-http-client/2.0", "Java/17.0.2",
        "Java-http-client/21.0.1",
        "Apache-HttpClient/4.5.14 (Java/17)", "axios/1.7.2", "node-fetch", "undici", "got/12.1.0", "GuzzleHttp/7", "libwww-perl/6.67",
        "PostmanRuntime/7.37", "insomnia/2023.5.8", "HTTPie/3.2.2", "Ruby", "Faraday v2.7", "reqwest/0.11", "PHP/8.2",
        "WinHttp.WinHttpRequest.5",
        "Barracuda Sentinel (EE)", "Mozilla/4.0 (compatible; ms-office; MSOffice 16)", "Datadog/Synthetics", "Site24x7", "kube-probe/1.31",
        "ELB-HealthChecker/2.0", "GoogleHC/1.0", "Amazon CloudFront", "StatusCake", "Mozilla/5.0 (compatible; NewRelicSynthetics)",
        "Prometheus/2.45",
        "facebookexternalhit/1.1", "meta-externalagent/1.1", "WhatsApp/2.23.20.0", "SkypeUriPreview Preview/0.5", "Slack-ImgProxy 1.19",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.1; +https://openai.com/gptbot)", "ChatGPT-User/1.0",
        "Claude-User/1.0", "Perplexity-User/1.0", "HeadlessChrome/120.0", "Mozilla/5.0 (compatible; Unheard/1.0)",
        "Mozilla/5.0 (X11; Linux x86_64) Chrome/120.0 Safari/537.36 (+https://example.org/unheard)", "Scrapy/2.11", "Nikto/2.5",
        "masscan/1.3", "node", "Deno/1.44", "Bun/1.1.12", "Apache-HttpAsyncClient/5.3", "http.rb/5.2.0", "ureq/2.9", "wrk/4.2",
        "feedparser/6.0", "Misskey/2024.5", "Friendica", "Consul Health Check", "Monit/5.33", "YandexImages/3.0", "Inoreader/1.0",
        "Dalvik/2.1.0 (Linux; U; Android 14) SomeCrawler/1.0", "SomeCrawler/2 Bot/1 Dart/3.4 (dart:io)", "feroxbuster/2.10.1",
        "DirBuster-1.0", "Cypress/13", "h2load nghttp2/1.43", "hurl/4.1.0", "Apache-Maven/3.9", "Debian APT-HTTP/1.3 (2.6.1)",
        "HTTP-Tiny/0.088", "excon/0.110.0",
        "HTTParty/0.21", "Feign/12.1", "Terraform/1.6.0", "docker/24.0.7", "ansible-httpget", "IFTTT-Protocol/v1",
        "Microsoft-CryptoAPI/10.0", "Viber/13.3.0.5",
        "Lightpanda/1.0", "Mozilla/5.0 (linux) AppleWebKit/537.36 (KHTML, like Gecko) jsdom/22.1.0", "HappyDOM/15.7.4", "LuaSocket 3.0",
        "pekko-http/1.0", "armeria/1.30", "attohttpc/0.28", "awc/3.5", "oha/1.4.5", "Gatus/1.0", "Telegraf/1.32", "HomeAssistant/2024.10",
        "Kimi-User/1.0", "Mozilla/5.0 (Linux; Android 9; SM-A102U; AcmeBot/1.0) Chrome/120.0",
        "Mozilla/5.0 (Linux; Android 9; bot@acme.example) Chrome/120.0", "AcmeBot Android/9 (x)",
        "Mozilla/5.0 (Linux; Android 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 (AcmeBot)",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0 Electron/33.0 Safari/537.36",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Electron/33.0 Safari/537.36 (Googlebot/2.1)",
        "WhatsApp/2.12.15/i", "Mozilla/5.0 (X11; Linux x86_64) Chrome/120.0 (www.spider.com)", "in.spider.com/2.0", "org.crawler",
        "com.acme.app/1 Googlebot/2.1", "bot.acme.com", "facebookexternalhit/1.1 Facebot Twitterbot/1.0 WhatsApp/2",
    ]

    static let iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22G100 "

    static func android(_ device: String) -> String {
        "Mozilla/5.0 (Linux; Android 8.0.0; \(device)) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36"
    }

    static func electron(_ app: String) -> String {
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \(app)Chrome/130.0.6723.59 Electron/33.0.2 Safari/537.36"
    }

    /// Browsers, and the stacks of apps: names of robots are words in some of them.
    static let people = [
        firefox, "BabyMonitor/3.2.1 okhttp/4.9", "BloodPressureMonitor/1 CFNetwork/1485 Darwin/23.1.0", "Barcode Scanner/2.1 okhttp/4.10.0",
        "BabyMonitor/3.2 Dart/3.2 (dart:io)", "BabyMonitor/3 (com.acme.baby; build:12; iOS 17.1.0) Alamofire/5.8.0",
        "SpiderSolitaire/4.6 CFNetwork/1490", "Talbots/4.0 (iPhone; iOS 17.5; Scale/3.00)", "Robotics/1.0 CFNetwork/1410 Darwin/22.6.0",
        "UnityPlayer/2022.3.10f1 (UnityWebRequest/1.0, libcurl/8.1.1-DEV)", "nodeapp/1.0 okhttp/4.12.0",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (Linux; Android 14; CUBOT KINGKONG) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0 Mobile Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/467.0]",
        "Mozilla/5.0 (Linux; Android 14; SM-S918B; wv) AppleWebKit/537.36 Chrome/125.0 Mobile Safari/537.36 Instagram 333.0.0.42",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 GSA/319.0 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0)",
        "Mozilla/5.0 (compatible; Konqueror/4.5; Linux) KHTML/4.5.4 (like Gecko)",
        "Opera/9.80 (Android; Opera Mini/36.2/191.256; U; en) Presto/2.12.423 Version/12.16", "okhttp/4.12.0", "Dart/3.4 (dart:io)",
        "Dalvik/2.1.0 (Linux; U; Android 14; CUBOT_KINGKONG)", "News/412 CFNetwork/1496.0.7 Darwin/23.5.0", "Alamofire/5.9.1",
        "ktor-client",
        "AcmeNews/3.2 (com.acme.news; build:412; iOS 17.5.1) Alamofire/5.9.1", "Abbott LibreLink/2.10 CFNetwork/1496 Darwin/23",
        "Checkout/5.1 CFNetwork/1496 Darwin/23.5.0", "SaudiTickets/2.0 CFNetwork/1496", "SuperLiga/1.4 okhttp/4.11",
        "Curling/2.2 CFNetwork/1496",
        "TripAdvisor/390 okhttp/4.9", "Tesla/2024.20 Chrome/120", "Fetch/3.98 CFNetwork/1496 Darwin/23",
        "Slack/24.05 CFNetwork/1496 Darwin/23",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Viber/22.5.0",
        "Mozilla/5.0 (Linux; Android 14; SM-S918B; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/125.0 Mobile Safari/537.36 Viber/22",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 WhatsApp/24.11.85",
        "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 Chrome/125.0 Mobile Safari/537.36 [WhatsApp/2.24.11]",
        "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 Chrome/125.0 Mobile Safari/537.36 com.example.spider.app/1.2",
        "com.example.spider.app/412 (Linux; U; Android 14; de_DE; Pixel 8)", "com.acme.crawler.game/1 okhttp/4.12.0",
        "AcmeNews/3.2 (com.example.spider.app; build:412; iOS 17.5.1) Alamofire/5.9.1", "Acme/3 [de.robots.monitor.Scanner] Android/14",
        "io.github.bot.reader/2.0 (Android 14) ktor-client", "Dalvik/2.1.0 (Linux; U; Android 14; org.monitor.baby)",
        iPhone + "Safari/604.1 MetaIAB Facebook", iPhone + "Safari/604.1 MetaIAB Instagram", android("Pixel 8; wv") + " MetaIAB",
        iPhone + "[FBAN/WhatsAppSMBIPhone]", android("AUM-L29"), android("AUM-TL20 Build/HONORAUM-TL20"), android("Spider 8"),
        android("HTC_Ruby Build/IML74K; wv"), android("ru-ua; POWER BOT Build/MRA58K"), android("VR BOT 552 PLUS"), android("Expanse"),
        android("Safari"), android("Pixel 8; wv") + " GoPay/1.40.0", android("Pixel 8; wv") + " Blackboard/24.6",
        android("22101316G; wv") + " Instagram 359.0 Android (33/13; 440dpi; 1080x2169; Xiaomi/Redmi; 22101316G; ruby; mt6877; de_DE; 1)",
        "Dalvik/2.1.0 (Linux; U; Android 8.0.0; AUM-L29 Build/HONORAUM-L29)", "Aloha/5",
        electron("PriceMonitor/2.1.0 "), electron("Mattermost/5.10.0 "), electron("Acme Preview/3 "), electron(""),
        "PriceMonitor/2.1 Chrome/130.0.6723.59 Electron/33.0.2 Safari/537.36",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chromium-snap/130 Chrome/130 Safari/537.36",
        "Mozilla/5.0 (Web0S; Linux/SmartTV) Chrome/87.0.4280.88 Safari/537.36 HbbTV/1.6.1 (+DRM; LGE/KTC/BOTECH; 58BSE9503; W22_K8LP;)",
        "SalesforceMobileSDK/11.1 iOS/17.5 CFNetwork/1496", "DiscourseHub", "ScanSnap/2.0 CFNetwork/1496",
    ]

    @Test("Programs are robots, and people's browsers and apps are none")
    func programs() {
        let filter = BotFilter()
        #expect(Self.robots.filter { !filter.isRobot($0) } == [])
        #expect(Self.people.filter { filter.isRobot($0) } == [])
    }

    @Test("A file adds names of robots and of people, and can replace the list")
    func extended() throws {
        let extended = BotFilter(try RobotNames(extendedBy: "# Ours\r\n  AcmeProbe \r\n\n!Robotics News\n"))
        #expect(extended.isRobot("x acmeprobe/1") && extended.isRobot("curl/8"))
        #expect(!extended.isRobot("ROBOTICS NEWS/2 okhttp") && extended.isRobot("Robotics News, Googlebot"))
        let replaced = BotFilter(try RobotNames(extendedBy: "!*\nacmeprobe"))
        #expect(replaced.isRobot("AcmeProbe") && !replaced.isRobot("Googlebot/2.1"))
        for (text, line) in [("ab", 1), ("abc\n!a", 2), ("# x\n\n  b", 3)] {
            #expect(throws: RobotNames.InvalidName.self, "\(line)") { try RobotNames(extendedBy: text) }
        }
    }

    @Test("The name is found anywhere in a long field, and the first and last bytes are read")
    func positions() {
        let filter = BotFilter()
        #expect(filter.isRobot(String(repeating: "x", count: 10_000) + "bot"))
        #expect(filter.isRobot("bot" + String(repeating: "x", count: 10_000)))
        #expect(!filter.isRobot("bo") && !filter.isRobot("b") && !filter.isRobot(""))
    }
}
