"""The command line: ``tsformer forecast FILE --horizon N``, ``demo``, ``backtest`` and the rest.

Nothing heavy is loaded here: a command imports what it needs when it runs. Exit codes:

==== =====================================================================
0    done
1    something in the data, a file or a model file; the message has a cure
2    a wrong option, argument or parameter
3    training or the forecast itself failed
70   a defect of tsformer; ``TSFORMER_DEBUG=1`` shows the traceback
130  interrupted
==== =====================================================================
"""

from tsformer.cli.app import main

__all__ = ["main"]
