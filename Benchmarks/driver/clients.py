"""The header fields that clients send by themselves. What a page costs without them is what nobody but a script pays.

`CLIENT=browser` has every program here ask as a browser does; without it they ask plainly, but for those that measure both."""
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
# The service has to allow the origin.
SETTING = "cors.origins=https://app.example.com"
# By what each is called in results.
CLIENTS = {"plain": (), "a browser": BROWSER}


def chosen():
    """The fields of the client that the environment names."""
    return BROWSER if os.environ.get("CLIENT") == "browser" else ()


def pairs(fields):
    """The fields as names and values."""
    return [tuple(field.split(": ", 1)) for field in fields]
