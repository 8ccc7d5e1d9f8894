// Preloaded into a relay that runs with --expose-gc: on SIGUSR2 it collects garbage and prints what memory is left.

process.on('SIGUSR2', () => {
  const { gc } = globalThis
  gc?.()
  gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  process.stdout.write(`${JSON.stringify({ memory: { rss, heap: heapUsed + external } })}\n`)
})
