"""Pages as Markdown text: pure functions of the data, without files or a site generator."""
