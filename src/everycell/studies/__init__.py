"""What only one chapter of one paper has: settings, audits, shapes of tables, drawings.

A paper has a folder of its key. A folder of another name is an experiment that several papers
print: each of them may import it, and it imports none of them.
"""
