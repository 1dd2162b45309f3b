"""Norms that steps go through, beside the LayerNorm of torch."""

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["StepBatchNorm"]


class StepBatchNorm(nn.BatchNorm1d):
    """BatchNorm over batch and time, for steps with the features last.

    One step of one series alone has no deviation: in training too it is normalised by the running
    statistics, which it leaves as they are. The answer to a series depends, in training, on the
    others in its batch.

    References
    ----------
    Ioffe and Szegedy (2015), "Batch Normalization", ICML, arXiv:1502.03167.

    Examples
    --------
    >>> import torch
    >>> StepBatchNorm(1)(torch.tensor([[[1.0], [3.0]]])).flatten().round(decimals=3)
    tensor([-1.,  1.], grad_fn=<RoundBackward1>)
    """

    def forward(
        self, input: Float[Tensor, "batch time d_model"]
    ) -> Float[Tensor, "batch time d_model"]:
        """Return the steps, normalised feature by feature."""
        if self.training and input.shape[0] * input.shape[1] == 1:
            return functional.batch_norm(
                input.transpose(1, 2),
                self.running_mean,
                self.running_var,
                self.weight,
                self.bias,
                eps=self.eps,
            ).transpose(1, 2)
        return super().forward(input.transpose(1, 2)).transpose(1, 2)
