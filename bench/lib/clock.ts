// Time in two kinds: that of the wall, and that which this process computed, whatever else the machine did meanwhile.

/** @returns seconds that passed */
export async function wallSeconds(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

/** @returns seconds of processor time, of all threads and of the kernel for them */
export async function cpuSeconds(work: () => unknown): Promise<number> {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}
