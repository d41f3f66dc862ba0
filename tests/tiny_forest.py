"""A LightGBM model of one tree with three leaves, as text."""

FOREST = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=1
objective=lambdarank
feature_names=words links
feature_infos=[0:1] [0:1]
tree_sizes=207

Tree=0
num_leaves=3
num_cat=0
split_feature=0 1
split_gain=3.8 0.1
threshold=0.5 0.25
decision_type=2 2
left_child=1 -1
right_child=-2 -3
leaf_value=-0.2 0.2 -0.1
leaf_count=3 14 3
internal_count=20 6
is_linear=0
shrinkage=0.1


end of trees
"""
