"""bfloat16 for numpy, as far as the stand-in looks at it."""
import numpy as np

bfloat16 = np.dtype([("bfloat16", "u2")])
