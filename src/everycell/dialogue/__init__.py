"""Dialogues: answerability, annotated snippets, query rewriting and user satisfaction."""
