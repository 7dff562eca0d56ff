"""A bucket: moto stores the objects, and botocore computes the expected signatures. Moto accepts any signature, so this server checks
requests first, and refuses them with S3's error codes."""
import threading
import urllib.parse

import boto3
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


class Bucket:
    def __init__(self, name, region):
        self.name, self.region = name, region
        self._credentials = None
        # Method, received path, and the error code, or None.
        self.asked = []
        self._guards = False
        self._app = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=Silent)
        self.port = self._server.server_port
        self.endpoint = f"http://127.0.0.1:{self.port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._client = boto3.client("s3", endpoint_url=self.endpoint, region_name=region,
                                    aws_access_key_id="writer", aws_secret_access_key="writer")
        self._client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": region})

    def put(self, key, content):
        self._client.put_object(Bucket=self.name, Key=key, Body=content, ContentType="binary/octet-stream", ACL="public-read")

    def path(self, key):
        """Returns the path of boto3's request for the object."""
        url = self._client.generate_presigned_url("get_object", {"Bucket": self.name, "Key": key})
        return urllib.parse.urlsplit(url).path

    def guard(self, credentials):
        """From here on requests are checked; until here they were the test's own.

        credentials: access key, secret and session token, or None for a bucket that anybody may read.
        """
        self._guards, self._credentials = True, credentials
        self.asked.clear()

    def _answer(self, environ, start):
        if not self._guards:
            return self._app(environ, start)
        refusal = self._refusal(environ)
        self.asked.append((environ["REQUEST_METHOD"], environ["RAW_URI"], refusal and refusal[1]))
        if refusal is None:
            return self._app(environ, start)
        start(refusal[0], [("Content-Type", "application/xml")])
        return [f"<?xml version='1.0'?><Error><Code>{refusal[1]}</Code></Error>".encode()]

    def _refusal(self, environ):
        """Returns status and code for a request that S3 refuses; None for a valid one."""
        authorization = environ.get("HTTP_AUTHORIZATION")
        if self._credentials is None:
            return None if authorization is None else ("400 Bad Request", "UnexpectedAuthorization")
        if authorization is None:
            return "403 Forbidden", "AccessDenied"
        key, secret, token = self._credentials
        scheme, _, rest = authorization.partition(" ")
        parts = dict(part.strip().split("=", 1) for part in rest.split(","))
        access, day, region, service, end = parts["Credential"].split("/")
        if (scheme, service, end) != ("AWS4-HMAC-SHA256", "s3", "aws4_request") or region != self.region:
            return "400 Bad Request", "AuthorizationHeaderMalformed"
        if access != key:
            return "403 Forbidden", "InvalidAccessKeyId"
        if environ.get("HTTP_X_AMZ_SECURITY_TOKEN") != token:
            return "400 Bad Request", "InvalidToken"
        signed = parts["SignedHeaders"].split(";")
        # S3 requires signatures of the host and of each x-amz- field.
        given = {name[5:].replace("_", "-").lower() for name in environ if name.startswith("HTTP_")}
        if not {"host"} | {name for name in given if name.startswith("x-amz-")} <= set(signed):
            return "403 Forbidden", "AccessDenied"
        if environ["HTTP_X_AMZ_CONTENT_SHA256"] != EMPTY or not environ["HTTP_X_AMZ_DATE"].startswith(day):
            return "403 Forbidden", "SignatureDoesNotMatch"
        fields = {name: environ["HTTP_" + name.upper().replace("-", "_")] for name in signed}
        request = AWSRequest(environ["REQUEST_METHOD"], f"http://{fields['host']}{environ['RAW_URI']}", headers=fields)
        request.context["timestamp"] = fields["x-amz-date"]
        signer = S3SigV4Auth(Credentials(key, secret, token), "s3", region)
        wanted = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
        return None if wanted == parts["Signature"] else ("403 Forbidden", "SignatureDoesNotMatch")


class Silent(WSGIRequestHandler):
    def log(self, *_):
        pass
