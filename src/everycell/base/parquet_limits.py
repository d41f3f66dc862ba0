"""Check of the unpacked size of untrusted Parquet files, before they are unpacked."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from everycell.base.text_files import check_regular
from everycell.base.untrusted import max_unpacked_size

#: Rows allowed in a file of any size, and additional rows per byte. Rows with distinct ids take at
#: least a byte each; a million rows of a constant column take almost nothing.
ROWS, ROWS_PER_BYTE = 1_000_000, 4


def check_parquet_size(path: Path | str) -> None:
    """Refuse a Parquet file that unpacks to far more than its own size.

    Only the metadata of the file are read; pyarrow detects wrong sizes in them.
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
    max_rows = ROWS + ROWS_PER_BYTE * size
    if rows > max_rows:
        raise ValueError(
            f"{path} has {rows:,} rows in {size:,} bytes; expected at most {max_rows:,} rows, "
            "since each row has its own id. Write the file again."
        )
    if unpacked > max_unpacked_size(path):
        raise ValueError(
            f"{path} unpacks from {size:,} to {unpacked:,} bytes; expected at most "
            f"{max_unpacked_size(path):,}. Write the file again with less compression."
        )
