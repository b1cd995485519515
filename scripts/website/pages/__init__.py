"""Pages as Markdown text: pure functions of the data, without files and without a site generator."""
