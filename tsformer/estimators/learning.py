"""What a fit learns is taken over in one step, so that a fit that fails changes nothing."""

from typing import Self

from tsformer.params import Params

__all__ = ["Learner"]


class Learner(Params):
    """Base of what is fitted: ``fit`` learns on an unfitted twin and adopts it when all is done.

    Interrupted or failed at any point, a fit leaves the estimator as it was: unfitted, or with
    all that the fit before has learnt.
    """

    def _unfitted(self) -> Self:
        """The same parameters, the very objects, and nothing learnt."""
        twin = type(self).__new__(type(self))
        kept = {name: value for name, value in self.__dict__.items() if not name.endswith("_")}
        twin.__dict__ = kept
        return twin

    def _adopt(self, fitted: Self) -> Self:
        """Take over all that another has learnt, in one assignment."""
        self.__dict__ = fitted.__dict__
        return self
