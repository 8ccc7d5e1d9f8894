// Checks the address of a listener of plain HTTP.

import type { ListenOptions } from 'node:net'
import type { CoreSettings } from '../config/settings.ts'
import { tcpProblem } from './bind.ts'
import { type CheckOptions, error, type Found, off, ok } from './finding.ts'
import { askHealth } from './health.ts'

/** @param address undefined: the feature is off */
export async function checkPlainHttp(
  setting: string,
  address: { host?: string | undefined; port: number } | undefined,
  does: string,
  settings: CoreSettings,
  { isRestart }: CheckOptions,
): Promise<Found[]> {
  if (address === undefined) return [off(`${setting} is not set.`)]
  const place = `${address.host ?? 'every address,'} port ${address.port}`
  const problem = await tcpProblem(address satisfies ListenOptions)
  const isOurs = problem?.code === 'EADDRINUSE' && isRestart && (await askHealth(settings)).isServing
  return problem === undefined || isOurs
    ? [ok(`${does} at ${place}, over plain HTTP.`)]
    : [error(`${setting}: the relay cannot listen at ${place}: ${problem.message}.`)]
}
