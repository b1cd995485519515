"""Makes the handbook as one PDF and one ePub from the site that is already built.

Not shipped with the package.
"""
