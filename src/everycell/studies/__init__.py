"""What only one chapter of one paper has: settings, audits, shapes of tables, drawings."""
