# The image of Rollcall: two static programs and nothing else. It needs no base
# and no network; the programs are built before, by `make image-binaries`, for
# each platform that is wanted. `make image` does both (docs/operations/image.md).
FROM scratch

# Named by the builder: amd64, arm64.
ARG TARGETARCH

# Time zones and public certificate authorities are in the programs.
COPY --chmod=0555 bin/image/linux/${TARGETARCH}/rollcall bin/image/linux/${TARGETARCH}/wecomsim /

# Last, so that another commit with the same programs shares their layer.
ARG VERSION=development
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="Rollcall" \
      org.opencontainers.image.description="Keeps the member list of every live QR code (WeCom contact way) true" \
      org.opencontainers.image.url="https://github.com/rollcall-dev/rollcall" \
      org.opencontainers.image.source="https://github.com/rollcall-dev/rollcall" \
      org.opencontainers.image.documentation="https://github.com/rollcall-dev/rollcall/blob/main/docs/operations/image.md" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"

# Nobody's number; Kubernetes' runAsNonRoot needs a number to judge.
USER 65532:65532

# 9090 health and metrics, 8080 the ingress (callbacks, the API, landing pages).
EXPOSE 8080 9090
STOPSIGNAL SIGTERM
ENTRYPOINT ["/rollcall"]
