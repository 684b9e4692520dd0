"""Where the packages lie: the stages stand in root folders and are installed as subpackages of `scopt`.

Everything else about the distribution is in pyproject.toml.
"""

from setuptools import find_packages, setup

STAGES = ("frontend", "scheduler", "astgen", "polybench")

folders = {"scopt": "scopt", **{f"scopt.{name}": f"scopt/{name.replace('.', '/')}" for name in find_packages("scopt")}}
for stage in STAGES:
    for package in (stage, *(f"{stage}.{name}" for name in find_packages(stage))):
        folders[f"scopt.{package}"] = package.replace(".", "/")

setup(
    packages=list(folders),
    package_dir=folders,
    package_data={
        "scopt": ["py.typed", "cmake/*.cmake"],
        "scopt.polybench": ["polybench.h", "polybench.c", "kernels/*.c", "kernels/*.h", "general/*.c", "general/*.h"],
        "scopt.polybench.limits": ["*.c"],
        "scopt.scheduler.influence": ["schema.json"],
    },
)
