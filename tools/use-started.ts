// Starts what all tests of a file use, and closes it behind them.
import { afterAll, beforeAll } from 'vitest'

/**
 * A file calls it outside its tests.
 * @returns what `start` gave, whose fields are there once the tests of the file run
 */
export function useStarted<T extends { close(): unknown }>(start: () => Promise<T>): T {
  const started = {} as T
  beforeAll(async () => {
    Object.assign(started, await start())
  })
  afterAll(() => started.close())
  return started
}
