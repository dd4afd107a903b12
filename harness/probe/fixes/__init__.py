"""Named fixes: small modules with one function ``apply()`` that patches the running process.

``apply()`` is called before the model is built and returns ``"applied"``, ``"absent"`` (nothing to patch in this
release) or ``"refused"``, alone or in a pair with a sentence. It never writes to a file: the files of an
environment are shared through hard links.
"""
