"""The header fields that clients send by themselves. Without them a measurement shows the cost of scripts only.

If the environment has `CLIENT=browser`, the programs here send a browser's fields: those of `fetch()` for pages, those of a navigation for clicks.
Otherwise they send none, except the programs that measure both. Operators' requests are those of scripts in either case."""
import gzip
import os

# A page of an app of another origin.
BROWSER = (
    'sec-ch-ua-platform: "Linux"',
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    'sec-ch-ua: "Chromium";v="142", "Not_A Brand";v="99"',
    "sec-ch-ua-mobile: ?0",
    "Accept: application/json",
    "Origin: https://app.example.com",
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Mode: cors",
    "Sec-Fetch-Dest: empty",
    "Referer: https://app.example.com/",
    "Accept-Encoding: gzip, deflate, br, zstd",
    "Accept-Language: en-US,en;q=0.9",
)
# The fields of a click on a link in such a page. A click with the fields above is a subresource, which does not count.
NAVIGATION = (
    *(field for field in BROWSER if field.startswith(("sec-ch-ua", "User-Agent", "Accept-"))),
    "Upgrade-Insecure-Requests: 1",
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-User: ?1",
    "Sec-Fetch-Dest: document",
    "Referer: https://app.example.com/",
)
# The service has to allow the origin.
SETTING = "cors.origins=https://app.example.com"
# Clients by their names in results.
CLIENTS = {"plain": (), "a browser": BROWSER}


def chosen(isClick=False):
    """Returns the fields of the client that the environment names."""
    if os.environ.get("CLIENT") != "browser":
        return ()
    return NAVIGATION if isClick else BROWSER


def pairs(fields):
    """Returns the fields as names and values."""
    return [tuple(field.split(": ", 1)) for field in fields]


def merged(fields, headers):
    """Returns the fields and the headers of a request; a header replaces a field with the same name."""
    own = {name.lower() for name in headers}
    return [(name, value) for name, value in pairs(fields) if name.lower() not in own] + list(headers.items())


def ask(connection, method, path, headers=None, isClick=False):
    """Sends a request of the chosen client on a connection of http.client, which by itself accepts the coding "identity" only."""
    connection.putrequest(method, path, skip_accept_encoding=True)
    for name, value in merged(chosen(isClick), headers or {}):
        connection.putheader(name, value)
    connection.endheaders()
    return connection.getresponse()


def content(answer):
    """Returns the decoded content of a response."""
    data = answer.read()
    return gzip.decompress(data) if answer.headers.get("Content-Encoding") == "gzip" else data
