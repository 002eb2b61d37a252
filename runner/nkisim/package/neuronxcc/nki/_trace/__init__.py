"""The tracer. Imports run down: a file takes from its own layer and from those that stand above it here, never in a
circle (tests/nkisim_tracer/test_layers.py reads this list).

  values     tables formats dtypes host containers constants limits errors shapes inventions
  context    context names: the trace in progress, how to fail in it, help for what is not there
  indices    conditions affine refusals: what Python asks of an index or a tensor in vain
  nodes      nodes variables builder capacity: the recording, and sizes that no chip and no reader takes
  tensors    tensor: a view of a buffer; the layers that follow give it its methods
  rules      scope checks bounds views indexing: what may be used, and where
  emitting   emit assign mutable registers loops: from tensors to nodes
  functions  api: the documented functions, the operators of tiles
  programs   peephole residence encode decode: the recording made smaller, what is alive at once, its bytes
  source     syntax ast_pass rewrite runtime: a kernel's text
  kernels    jit launch kernel engine dump: one call, from the host, inside another kernel, by hand
"""
