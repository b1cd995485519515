"""The site: pages and figures from the data, and the glue to the site generators."""
