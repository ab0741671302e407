# UBP as a container image, without Perl, a compiler or a package manager: .ci/image.sh writes its root.
#
#     python -m build --wheel && docker build --tag ubp .                             # hooks and CI
#     python -m build --wheel && docker build --tag ubp --build-arg EXTRAS=full,hub . # the servers
#     docker run --rm --volume "$PWD:/work" ubp ubp check
FROM debian:bookworm-slim AS build
ARG EXTRAS=symbols
COPY .ci/image.sh dist/*.whl /src/
RUN /src/image.sh /image /src/*.whl "$EXTRAS"

FROM scratch
COPY --from=build /image /
ENV LANG=C.UTF-8 PATH=/usr/bin
WORKDIR /work
CMD ["ubp", "--help"]
