# The project with its complete environment (4 GB), for trying or archiving it. It was written without
# a container runtime; .github/workflows/container.yml builds and tests it.
# envs/Dockerfile is a different image, with the environments of Snakemake's jobs on a cluster.
ARG BASE=python:3.11.13-bookworm
FROM ${BASE}
RUN useradd --create-home everycell && install --directory --owner everycell /everycell
WORKDIR /everycell
COPY --chown=everycell . .
USER everycell
RUN make setup && rm -rf /home/everycell/.cache
ENV PATH=/everycell/.venv/bin:$PATH
CMD ["everycell", "list"]
