# syntax=docker/dockerfile:1.10
# The gateway in a container: everything in one process, its data in the volume /data.
#
#   docker build --tag gatelet .
#   docker run --publish 127.0.0.1:8787:8787 --volume gatelet:/data gatelet
#
# The image has the binary and what a program needs of Debian, but no shell and no package manager.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /source
COPY . .
# Both folders outlive the build, so that the next one compiles only what changed; the binary is copied out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,target=/source/target,sharing=locked \
    cargo build --locked --profile gateway --package gateway --bin gateway \
    && mkdir --parents /image/data \
    && cp target/gateway/gateway /image/gateway

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /image/gateway /gateway
# A new volume takes its owner from the folder that it is mounted on.
COPY --from=build --chown=65532:65532 /image/data /data
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["/gateway", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/gateway"]
CMD ["--listen", "0.0.0.0:8787", "--data", "/data"]
