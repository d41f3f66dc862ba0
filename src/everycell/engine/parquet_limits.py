"""Parquet files from others: their unpacked size is checked before anything is unpacked."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from everycell.engine.text_files import check_regular
from everycell.engine.untrusted import max_unpacked_size

#: Rows allowed in a file of any size, and further rows per byte. A row with its own id takes a
#: byte or more; a million rows of a constant column take almost nothing.
ROWS, ROWS_PER_BYTE = 1_000_000, 4


def check_parquet_size(path: Path | str) -> None:
    """Refuse a Parquet file that unpacks to far more than its own size.

    Only the metadata at its end is read. pyarrow detects files that lie about their sizes.
    """
    path = Path(path)
    check_regular(path)
    with pq.ParquetFile(path) as file:
        metadata = file.metadata
        groups = range(metadata.num_row_groups)
        unpacked = sum(
            metadata.row_group(group).column(column).total_uncompressed_size
            for group in groups
            for column in range(metadata.num_columns)
        )
        rows = sum(metadata.row_group(group).num_rows for group in groups)
    size = path.stat().st_size
    allowed = ROWS + ROWS_PER_BYTE * size
    if rows > allowed:
        raise ValueError(
            f"{path} has {rows:,} rows in {size:,} bytes; expected at most {allowed:,} rows, "
            "since each "
            "has an id of its own: make the file again."
        )
    if unpacked > max_unpacked_size(path):
        raise ValueError(
            f"{path} unpacks from {size:,} to {unpacked:,} bytes; expected at most "
            f"{max_unpacked_size(path):,}: write the file again with less compression."
        )
