"""Compiled kernels beside the functions they were made of."""

import numpy as np


def agree(k, *args, rtol=1e-15, atol=0.0):
    """Compiled and eager give the same."""
    got, wanted = k(*args), k.eager(*args)
    np.testing.assert_allclose(np.asarray(got, float), np.asarray(wanted, float), rtol=rtol, atol=atol)
    return got
