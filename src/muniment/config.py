"""Settings.  The only place that reads the environment (prefix ``MUNIMENT_``)."""

from __future__ import annotations

import getpass
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """What an operator can set from outside.

    ==========================  =================================================================
    ``MUNIMENT_URL``            the store: ``sqlite:///path.db`` or ``postgresql://…``
    ``MUNIMENT_KEY_FILE``       where the chain key lives (default: beside an SQLite file, else
                                under the user's data directory)
    ``MUNIMENT_POLICY``         a policy file, or a preset by name (default: the built-in policy)
    ``MUNIMENT_TENANT``         the tenant of the command line
    ``MUNIMENT_USER``           the user of the command line
    ``MUNIMENT_PROJECT``        the project the command line acts in
    ``MUNIMENT_CHANNEL``        ``user`` on a terminal, ``agent`` for a model, else ``runtime``
    ``MUNIMENT_LANGUAGE``       ``en`` or ``zh``: the language of explanations
    ``MUNIMENT_MEMORY_OFF``     ``1``: long-term memory is off for this process
    ``MUNIMENT_EMBEDDER``       whose vectors find what words do not: ``auto``, ``none``, ``e5``,
                                ``openai:MODEL@DIMENSION``, …
    ``MUNIMENT_EMBEDDER_URL``   the endpoint of ``openai:`` and ``ollama:``
    ``MUNIMENT_EMBEDDER_KEY``   its key
    ==========================  =================================================================
    """

    model_config = SettingsConfigDict(env_prefix="MUNIMENT_", extra="ignore")

    url: str = "sqlite:///muniment.db"
    key_file: Path | None = None
    data_home: Path = Field(default_factory=lambda: Path.home() / ".local" / "share" / "muniment")
    policy: str | None = None
    tenant: str = "local"
    user: str = Field(default_factory=lambda: system_user())
    project: str | None = None
    channel: str | None = None
    language: str = "en"
    memory_off: bool = False
    embedder: str = "auto"
    embedder_url: str | None = None
    embedder_key: SecretStr | None = None


def system_user() -> str:
    """The name of whoever runs the process; ``user`` where there is none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "user"
