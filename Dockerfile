# syntax=docker/dockerfile:1.10
# The gateway in a container: everything runs in one process, with its data in the volume /data.
#
#   docker build --tag gatelet .
#   docker run --publish 127.0.0.1:8787:8787 --env GATELET_REMOTE_PAGES=1 --volume gatelet:/data gatelet
#
# The image has only the binary and the libraries that it is linked with: no shell, no package
# manager. Certificates are in the binary. `tests/packaging/image` runs a binary in the same root
# file system without a container engine.
FROM rust:1.95.0-slim-bookworm AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# The toolchain of this image, rather than the newest one, which rust-toolchain.toml names.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /source
COPY . .
# Both cache folders outlive the build, so that the next build compiles only what has changed. They
# are not part of the image, so the binary is copied out of them. Packed relocations, which glibc
# can read from 2.36 on, take 2 MB less memory.
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,target=/source/target,sharing=locked \
    cargo rustc --locked --profile gateway --package gateway --bin gateway -- --codegen link-arg=-Wl,-z,pack-relative-relocs \
    && install -D --mode 755 target/gateway/gateway /image/gateway \
    && ldd /image/gateway | grep --only-matching '/[^ ]*' | xargs -I '{}' install -D --mode 755 '{}' '/image{}' \
    && mkdir /data

FROM scratch
COPY --from=build /image /
# A new volume has the same owner as the folder at which it is mounted.
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
WORKDIR /data
VOLUME /data
# The threads keep only small pieces of freed memory for themselves, so that more is returned after
# a load (infra/README.md, "What a request costs in the gateway").
ENV GLIBC_TUNABLES=glibc.malloc.tcache_max=64
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["/gateway", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/gateway"]
CMD ["--listen", "0.0.0.0:8787", "--data", "/data"]
