"""Dialogues: answerability, snippets, rewriting of turns, and user satisfaction."""
