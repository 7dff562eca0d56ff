# Tools/release/pin adds the digests of both base images. A release is built only with them.
# Build: the toolchain, the headers of the seven system libraries, and Python for the licences.
FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libcurl4-openssl-dev libssl-dev libdeflate-dev zlib1g-dev libsqlite3-dev libvips-dev libpq-dev pkg-config python3 \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
# A release locks its dependencies: it has a Package.resolved, and this argument is --only-use-versions-from-resolved-file.
ARG RESOLUTION
# The dependencies are a separate layer, which is rebuilt only if the manifest changes.
COPY Package.swift Package.resolved* ./
RUN mkdir -p Sources/Dependencies && touch Sources/Dependencies/Empty.swift \
    && INTERTWINE_DEPENDENCIES_ALONE=1 swift build $RESOLUTION --configuration release --static-swift-stdlib \
    && rm -r Sources
COPY Sources Sources
# The web client contains a link to these files.
COPY Clients/JavaScript/source Clients/JavaScript/source
COPY Tools/release Tools/release
RUN swift build $RESOLUTION --configuration release --product intertwine --static-swift-stdlib \
    && swift build $RESOLUTION --configuration release --product intertwine-image-worker --static-swift-stdlib \
    && for program in intertwine intertwine-image-worker; do \
        install -D --strip "$(swift build --configuration release --show-bin-path)/$program" "/out/usr/local/bin/$program"; done \
    && mkdir -p /out/usr/share/doc/intertwine \
    && Tools/release/notice --program /out/usr/local/bin/* >/out/usr/share/doc/intertwine/NOTICE

# Run: no compiler, no network tools, no root.
FROM debian:bookworm-slim AS runtime
# The upgrade has the security updates that are newer than the base image.
RUN apt-get update \
    && apt-get upgrade --yes \
    && apt-get install --yes --no-install-recommends ca-certificates libcurl4 libdeflate0 libpq5 libsqlite3-0 libssl3 libvips42 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 intertwine \
    && useradd --uid 10001 --gid 10001 --no-log-init --no-create-home --home-dir /data --shell /usr/sbin/nologin intertwine \
    && install --directory --owner=intertwine --group=intertwine --mode=0750 /data
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="Intertwine" \
    org.opencontainers.image.description="Feed service of ready-to-render cells, with ads and actions" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="$VERSION"
COPY --from=build /out/ /
COPY Config/intertwine.yaml /etc/intertwine/intertwine.yaml
COPY Sources/IntertwineSample/files/feed.json /usr/local/share/intertwine/sample-feed.json
# server.shutdown-timeout ends before `docker stop` kills, after 10 s. SQLite's temporary files are in /data, because the root is read-only.
ENV INTERTWINE_CONFIG=/etc/intertwine/intertwine.yaml \
    INTERTWINE_SERVER_HOST=0.0.0.0 \
    INTERTWINE_SERVER_SHUTDOWN_TIMEOUT=8s \
    INTERTWINE_STORE_DATABASE=/data/intertwine.sqlite \
    SQLITE_TMPDIR=/data
USER intertwine
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 CMD ["intertwine", "health"]
ENTRYPOINT ["intertwine"]
CMD ["serve"]
