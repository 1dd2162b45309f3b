"""A sampler that each trial seeds anew, so that a trial can be repeated by itself."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.samplers import BaseSampler

__all__ = ["SeededSampler"]


class SeededSampler(BaseSampler):
    """Draws for trial k what the study's seed and k say, whichever worker asks for it.

    Samplers that look at no earlier trial (``RandomSampler``) therefore give trial k the same
    parameters in every run, with one worker or with many, and after a restart. Those that do
    (``TPESampler``) see what has finished by then, which many workers leave to chance.

    Parameters
    ----------
    sampler
        Any sampler of Optuna; its own seed is replaced.
    seed
        The study's.

    Attributes
    ----------
    exhausted : bool
        Whether the sampler has nothing left to try, as a grid has at its end.

    Examples
    --------
    >>> def drawn(number: int) -> float:
    ...     study = optuna.create_study(sampler=SeededSampler(optuna.samplers.RandomSampler(), 7))
    ...     return [study.ask().suggest_float("x", 0, 1) for _ in range(number + 1)][number]
    >>> drawn(2) == drawn(2) != drawn(1)
    True
    """

    def __init__(self, sampler: BaseSampler, seed: int) -> None:
        self.sampler, self.seed, self.exhausted = sampler, seed, False

    def before_trial(self, study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        """Seed every generator of the sampler for this trial."""
        states = np.random.SeedSequence([self.seed, trial.number])
        generators = list(_generators(self.sampler))
        for generator, state in zip(
            generators, states.generate_state(len(generators)), strict=True
        ):
            generator.seed(int(state))
        self.sampler.before_trial(study, trial)

    def infer_relative_search_space(
        self, study: optuna.Study, trial: optuna.trial.FrozenTrial
    ) -> Any:
        """That of the sampler."""
        return self.sampler.infer_relative_search_space(study, trial)

    def sample_relative(
        self, study: optuna.Study, trial: optuna.trial.FrozenTrial, search_space: Any
    ) -> Any:
        """That of the sampler."""
        return self.sampler.sample_relative(study, trial, search_space)

    def sample_independent(
        self,
        study: optuna.Study,
        trial: optuna.trial.FrozenTrial,
        param_name: str,
        param_distribution: Any,
    ) -> Any:
        """That of the sampler."""
        return self.sampler.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self,
        study: optuna.Study,
        trial: optuna.trial.FrozenTrial,
        state: optuna.trial.TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """That of the sampler; a grid that is at its end says so here."""
        try:
            self.sampler.after_trial(study, trial, state, values)
        except RuntimeError as error:
            if "Study.stop" not in str(error):
                raise
            self.exhausted = True  # it may stop only a study that runs its own loop

    def reseed_rng(self) -> None:
        """Nothing: the next trial seeds."""


def _generators(sampler: BaseSampler) -> Iterator[np.random.RandomState]:
    """The generators of a sampler and of those within it, in a steady order, each once.

    Optuna reseeds by chance only (``reseed_rng``); where its samplers keep their generators is
    the same for all of them, and a test holds it to that.
    """
    seen: set[int] = set()
    for _, held in sorted(vars(sampler).items()):
        if isinstance(held, BaseSampler):
            found: Iterator[Any] = _generators(held)
        else:
            found = iter([getattr(held, "rng", None)])
        for generator in found:
            if isinstance(generator, np.random.RandomState) and id(generator) not in seen:
                seen.add(id(generator))
                yield generator
