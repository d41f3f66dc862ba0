"""Attribution of a ranking to the features of its documents."""
