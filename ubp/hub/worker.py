"""The worker: it compares grants with the forges, sends webhooks, and deletes what is old.

After an upgrade it reads the texts of pages again.
"""

import logging
import time
from threading import Event

from ubp.core.errors import ConfigError, HubError, ModelError
from ubp.frame.wording import count
from ubp.hub.audit import make_partition
from ubp.hub.config import HubConfig
from ubp.hub.database import Database
from ubp.hub.events import announce
from ubp.hub.grants import compare_forge, compare_repository, save_clients
from ubp.hub.maintenance import collect_garbage
from ubp.hub.models import HubModel
from ubp.hub.repositories import finish_comparison, take_comparisons
from ubp.hub.store_texts import has_old_texts, list_unlisted, reread_texts
from ubp.hub.webhooks import deliver

SECONDS_BETWEEN_LOOKS = 5.0  # at the webhooks: a withdrawn grant ends within a minute
SECONDS_BETWEEN_NIGHTS = 86_400.0
SECONDS_AFTER_FAILURE = 600.0
# In a look, for reading texts of older versions again: webhooks wait no longer.
SECONDS_OF_READING = 30.0

LOG = logging.getLogger(__name__)


class Worker:
    """Does what is due; a failure is logged, and tried again later."""

    def __init__(
        self,
        database: Database,
        config: HubConfig,
        model: HubModel | None = None,
    ) -> None:
        self._database = database
        self._config = config
        self._night_at = float("-inf")
        self._model = model or HubModel()
        self._has_old_texts = True  # perhaps
        self._is_ended = Event()

    def end(self) -> None:
        """Return from `work` before the next texts are read; from any thread."""
        self._is_ended.set()

    def wait(self) -> bool:
        """Wait for the next look, and return whether there is one: `end` was not called."""
        return not self._is_ended.wait(SECONDS_BETWEEN_LOOKS)

    def work(self) -> bool:
        """Do what is due, and return whether all of it succeeded."""
        succeeded = self._answer_webhooks()
        with self._database.connection() as connection:
            save_clients(connection, self._config)
            announce(connection, self._config.hooks)
        succeeded = deliver(self._database, self._config) and succeeded
        if time.time() >= self._night_at:
            is_done = self._compare_everything()
            wait = SECONDS_BETWEEN_NIGHTS if is_done else SECONDS_AFTER_FAILURE
            self._night_at = time.time() + wait
            succeeded = succeeded and is_done
        return self._read_old_texts() and succeeded

    def _answer_webhooks(self) -> bool:
        """Compare what webhooks and pushes name; what fails, or is interrupted, stays queued."""
        forges = {forge.host: forge for forge in self._config.forges}
        succeeded = True
        with self._database.connection() as connection:
            queued = take_comparisons(connection)
        for (host, path), rows in queued.items():
            forge = forges.get(host)
            wait = None
            try:
                if forge is not None and path:
                    compare_repository(self._database, forge, path)
                elif forge is not None:
                    compare_forge(self._database, forge)
            except (HubError, ConfigError) as error:
                LOG.warning("%s %s", error.message, error.cause)
                succeeded, wait = False, SECONDS_AFTER_FAILURE
                self._night_at = min(self._night_at, time.time() + SECONDS_AFTER_FAILURE)
            with self._database.connection() as connection:
                finish_comparison(connection, rows, wait)
        return succeeded

    def _read_old_texts(self) -> bool:
        """Read texts of older formats again, and list the words of pushes that nobody listed.

        The next look continues what takes too long.
        """
        end = time.time() + SECONDS_OF_READING
        try:
            while self._has_old_texts and time.time() < end and not self._is_ended.is_set():
                with self._database.connection() as connection:
                    is_old = has_old_texts(connection) and bool(
                        reread_texts(connection, self._model.get(connection))
                    )
                    self._has_old_texts = is_old or list_unlisted(connection)
        except ModelError as error:
            LOG.warning("%s %s", error.message, error.cause)
            self._has_old_texts = False  # until the next night
            return False
        return True

    def _compare_everything(self) -> bool:
        succeeded = True
        self._has_old_texts = True  # a process of an older version may have taken a push
        for forge in self._config.forges:
            try:
                compared = compare_forge(self._database, forge)
                found = count(compared.found, "repository")
                LOG.info("%s: %s, %d removed", forge.host, found, compared.removed)
            except (HubError, ConfigError) as error:
                LOG.warning("%s %s", error.message, error.cause)
                succeeded = False
        with self._database.connection() as connection:
            make_partition(connection, "event")
            make_partition(connection, "audit")
            collect_garbage(connection, self._config)
        return succeeded
