/// The names of programs in the field `User-Agent`: crawlers, previews of links, monitors, and the libraries and tools that send requests.
package struct RobotNames: Sendable, Hashable {
    package var robots = Self.known
    // With a space before it, the name of an app is that of the browser in it. The programs that fetch previews begin with it.
    package var people = [
        " blackboard", " gopay", " inoreader", " sophos", " viber", " whatsapp", "[whatsapp", "abbott", "aloha/", "botech", "caboto",
        "cubot", "fban/whatsapp", "firephp", "hotjava", "http://bsalsa", "http://unity3d", "http://www.xbmc", "java/jbed", "libwww-fm",
        "mozilla/5.0 (compatible; antgalio", "mozilla/5.0 (compatible; ibrowse",
        "mozilla/5.0 (compatible; konqueror", "mozilla/5.0 (compatible; linux mips", "mozilla/5.0 (compatible; msie",
        "mozilla/5.0 (compatible; u;", "unitywebrequest/1.0, libcurl",
    ]

    package init() {}

    /// ``InvalidName`` for a name that is too short, because almost all fields contain it.
    package init(extendedBy text: String) throws(InvalidName) {
        // By bytes, because CR LF is one character. Some editors write a byte order mark.
        let text = text.hasPrefix("\u{FEFF}") ? String(text.unicodeScalars.dropFirst()) : text
        for (index, line) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let name = String(decoding: line.trimmed, as: UTF8.self)
            if name.isEmpty || name.hasPrefix("#") { continue }
            if name == "!*" {
                robots = []
                continue
            }
            let isOfPeople = name.hasPrefix("!")
            guard name.utf8.count >= (isOfPeople ? 4 : 3) else { throw InvalidName(line: index + 1) }
            if isOfPeople { people.append(String(name.dropFirst())) } else { robots.append(name) }
        }
    }

    package struct InvalidName: Error {
        package let line: Int
    }

    // Parts of names are written as they occur in fields, with a separator if the word alone also occurs in names of apps.
    private static let known = """
         scanner|${jndi|(at)|(cow)|+claude|-audit|-fetch|-scanner|.com/scan|.env presence|.useragent|/curl|77.0 time/|80legs|@atomicmail|\
        @gmail|@local|@mail|[at]|acunetix|adbeat|admantx|adminlabs|adreview|adscanner|adventurer|ahc/|ahrefs|aiohttp|akamai|akka-http|\
        akkoma|alertra|alienfarm|alittle|amazonbuyfor|amzn-user|analyser|analysis|analyzer|anarchy99|ansible|anthropic|antoine|apache-cxf|\
        apache-httpasync|apachebench|apify|apis-google|appinsights|apt-http|arachni|archiv|aria2|armeria/|artellead|artillery|asnrisk|\
        assetnote|attohttpc|attracta|auditor|autocannon|awc/|aws-sdk|axel/|axios|b0t|b3astmode|barkrowler|barracuda|bazqux|bdfetch|\
        bidtellect|biglotron|bigsur.ai|binlar|bit.ly|bitdiscovery|bitly|blackboard|blackbox|blackduck|bling erp|blogtrottr|bluesky cardyb|\
        bluesky-domain|bombardier|bot|brandwatch|brightdata|browser-use|browsershots|bruno-runtime|btwebclient|builtwith|bun/1|buttondown|\
        buzzsumo|bw/1.|cache-check|cacti|castopod|catchpoint|censys|certificate|cf-uc|chatgpt agent|chatgpt-user|check-host|check/|check_|\
        checker|checkly|checks|citoid|claude-|clj-http|cloudflare|cloudfront|coccoc|cohere|coldfusion|collapsify|collectd|collection@|\
        collector|colly|comodo dcv|compatible; ms-office|console)|consul health|contact research|convertify|cookiehub|copyscape|corporama|\
        cortex/|crawl|criticalcss|crusty|css generator|curl client|curl/|custom_user_agent|customasync|customuseragent|cybaaagent|\
        cyberscan|cyotek|cypress/|damoa|dareboost|datadog|datafeedwatch|datanyze|dataprovider|daumoa|dcv check|deep-research|\
        default_useragent|deno/1|deno/2|detectify|detector/|determ|devin/|digicert|dirbuster|discourse forum|disqus|dmbrowser|dnsscanner|\
        docker/|dormouse|doubleverify|download ninja|drupal|ds9 2.0|duckassist|dummy connection|duplexweb|dynatrace|elastic-heartbeat|\
        elb-health|email ex|emailproxy|emailwolf|embedly|emoney advisor|envoy/|evc-batch|example|exchange check|excon/|\
        existence discovery|exodusmovement|externalhit|extract|ezooms|facebookcatalog|facebookexternal|facebookplatform|faraday|\
        fastdast|fasthttp|fastmailua|fastprobe|\
        favicon|fediverse|fedoraplanet|feed reader)|feed-id|feedbin|feedburner|feeder /|feeder.co|feedflow|feedparser|feign/|feroxbuster|\
        fetcher|finder)|finder/|finderg|fireeye|flashget|flipboardproxy|forcepoint|foregenix|freshping|freshrss|friendica|functionize|\
        funnelback|fuzz faster|gatling|gatus/|gbrmss|gecko; compatible;|geckotrail|geral-worker|getright|giftedvisitor|gigablast|git/|\
        github-camo|github-hookshot|githubcopilot|gitlab/|globalwebsearch|gobuster|google-|googleadsense|googleagent|googleassociation|\
        googledocs|googlehc|googleother|googlesites|gopay|got (|got/|gradle/|grafana|greedyhand|gsoap|gtmetrix|guzzle|h2load|hackney|hakai|\
        happydom|happywing|haproxy|hardenize|harvest|hatena|headless|headway|healthcheck|hello world|hello, world|hells-net|help@|heritrix|\
        hetrix|hey/0|hlb/1|homeassistant/2|hoppscotch|hotjar|http client|http-client|http-kit|http-request|http-tiny|http.jl/|http.rb/|\
        http4s|http:|http_client|http_get|http_load|httparty|httpclient|httpie|httprequest|https:|httpunit|httpurlconnection|httpx|httrack|\
        hurl/|hydrozen|hypem|hyper/|hyperhost|icalendar|ichiro|icinga|idbte4m|iframely|ifttt-|image audit|imagemind|imageproxy|img2dataset|\
        imgproxy|impact.com|importdomains|indexer|indy library|info@|infrawatch|inoreader|insomania|insomnia|inspect|inspici|instaparser|\
        integromat|intently|iplabel|ips-agent|itms|iubenda|jakarta|java-http|java/|jeeves|jersey|jetpack by|jetty|jina reader|jina-|\
        jinareader|jmeter|joomla|jsdom/|jumio|k6/|kakaotalk-scrap|karnoprospect|kaupr|kendra|kenyadomain|keycdn|keydrop|kimi-user|\
        kirkland-sig|kiwitcms|klaviyo|knowledge ai|komaru|kouio|kowai|kube-probe|kubectl|kvshclient|l9explore|l9tcpid|laminas|langchain|\
        larbin|lavf/|leakix|legalmonster|lemmy/|letrix|letsencrypt|lftp|libcurl|libfetch|library of|libredtail|librenms|libwww|lighthouse|\
        lightpanda|line-parser|linkchain|linkcheck|linkdex|linkexpander|linkfinder|linktiger|llamaindex|lmao/|locust|logic-apps|lolisec|\
        lookup|ltx71|luasocket|lwp-|lwp:|magellan|magento|magicsearch|mail.ukr.net|mailto|majestic12|make/|managewp|manus-user|marginalia|\
        marketgoo|masjesu|masscan|matomo/|maven/|measurement|mechanize|mediapartners|mediavine|mediawiki/|meltwater|meta-external|metadata|\
        metafetch|metauri|metorik|microsoft bits|microsoft-cryptoapi|microsoft-flow|mimecast|miniature.io|miniflux|misskey|mistralai|\
        mixnode|mnogosearch|modularconnector|mojeek|mojolicious|monit/|monitor|montools|morningscore|mozilla/5.0 (compatible|mozilliqa|\
        multi-country|mutant;|mxtoolbox|my user agent|n8n|nagios|nameofagent|nazareth|needle/|nessus|netapi|netcraft|netlyzer|netsec|\
        netshelter|netsparker|netsystems|netty/|netvibes|netvigie|new relic|newrelic|newsai|newsblur|newsgathering|newsnow|newspaper/|\
        nextcloud-news|nikto|nmap|node.js|nodejs|nodeping|notionembedder|novellum|npm/|nsfw|nuclei|nutch|nuzzel|nvd0rz|nvdorz|oai-search|\
        octopus 1|offline explorer|oha/|omgili|omnisend|onebox|onetrust|onlyscans|openai|openrss|openvas|optimize|ortc.me|outbrain|ows.eu|\
        page speed|pageburst|pagespeed|pagething|palo alto|panopta|panscient|patchwatch|paypal ipn|pcore|pdf24 url|pdf24tools|peertube|\
        pekko-http|perl/|perplexity-user|phantomjs|phishbucket|php-|php/|phpmyadmin|pingdom|pingping|pip/|pixalate|platform-fingerprint|\
        playstore-google|playwright|pleroma|pocketimage|pocketparser|podbean/feed|podcast sync|postman|postrank|potions/|powershell|\
        prefetch proxy|prerender|preview|printfriendly|prittorrent|probe by|prober|prometheus|proofpoint|protocol discovery|prtg|ptst/|\
        pulsetic|puppeteer|pwabuilder|pycurl|python|qwantify|r00ts|radian6|rainmeter|reactornetty|readable|reaver|recon-engine|recon/|\
        recon;|reelevant|remove.bg|report runner|reported in|request-promise|requests|reqwest|research |research/|research@|researchagent|\
        researcher|researchscan|resolver|rest-client|restsharp|resty|retroliste|reward-gateway|rigor|robozilla|root slut|rootevidence|\
        route 53|route53|ruby|ruxit|safeassign|safeinternet|safelinks|safexinternet|salesforce.com|scan@|scanner.|scanning|scooter|scope3|\
        scrape|scraping|scrapy|screaming frog|searcherweb|searcherx|searchexpress|searchwp|searchx|sectigo|security |security-dot-txt|\
        security.txt|securityheaders|secweb|selenium|semrush|sendgrid|sentry/|seo4ajax|seobility|seokicks|serpreputation|server survey|\
        seznam|sfdc|sffeedreader|shodan|shopify-captain|shopwareclient|shrinktheweb|siege|silktide|simbiat|simplepie|sindup|sistrix|\
        site screenshot|site24x7|siteassociation|sitebulb|siteimprove|sitelock|sitemap|sitesucker|sixy.ch|skypeuri|slack-img|sleuth|\
        slingstone|slurp|smartfetch|snap url|snipcart|snoopy|soapui|sogou web|solarwinds|sophos|spark commit|sparkler|sparkpost|\
        sparkshipping|spawning|spider|spinn3r|splash version|spotify/1.0|sprinklr|sqlmap|sqwatcher|ssl labs|sslshed|stackrambler|stape|\
        statuscake|stripe/|sttp-client|subscribers|sucuri|superagent|support@|survey/|surveyagent|sv-watchagent|swagger-codegen|symantec|\
        symfony|synthetic|tavily|telegraf/|teleport|teoma|termly|terraform/|testlocally|theoldreader|thewebinternet|thinklab|thousandeyes|\
        thumbor|thunder client|timpi|tineye|tiny tiny rss|traackr|tracemyfile|trackable|trae/|traefik|trafilatura|transcoder|trellis|\
        trendiction|trendsmap|trust services|trustly|turingos|turnitin|twilioproxy|twingly|typhoeus|typo3|ubermetrics|undici|unirest|\
        unshorten|updown.io|upflow|uptime|uptimia|uptrends|ureq/|url/emacs|urlcheckr|urldefense|urlfetch|urllib|urlscan|user agent v|\
        user-agent|validat|varnish|vaultpress|vegeta|vercel-screenshot|verification|verifier|vert.x|viber|virustotal|visionheight|vkshare|\
        vscode-restclient|vyhledavac|w.x.y.z|w3af|w3c|wappalyzer|watchtowr|wayback|wb-filter|webauthn|webcapture|webcollage|webcopier|\
        webdav-miniredir|webdriver|webflow|webhook|webmon|webpagetest|webscanner|website|websoft|webzio|webzip|wesee|wfuzz|wget|whatcms|\
        whatsapp|whatweb|wheresitup|winhttp|wkhtmlto|wordup|worldpay|wotbox|wp_is_mobile|wpfetch|wpscan|wpumbrella|wrk/|wyzo/3.0.3 time|\
        xabyssal|xenu|xfa1|xh/0|xing-content|xmco|xtate|xx032|yacy|yahoocache|yahoomailproxy|yandeximages|yeti/|ylt chrome|yokoy|your-hp|\
        youruseragent|yunjiankong|zabbix|zapier|zemanta|zend-http|zend_http|zeno/|zenrows|zeus/|zgrab|zmeu|zulip
        """.split(separator: "|").map(String.init)
}

extension Substring.UTF8View {
    fileprivate var trimmed: Substring.UTF8View {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        let end = lastIndex { !isBlank($0) }.map { index(after: $0) } ?? startIndex
        return Substring(self[..<end]).utf8.drop(while: isBlank)
    }
}
