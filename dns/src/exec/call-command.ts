// Calls a user's command that changes DNS records; docs/operate/dns.md has its contract.

import { DnsProviderError, type DnsProviderFault } from '../providers/provider-error.ts'
import { COMMAND_LINE_MAX_CHARS } from './limits.ts'
import { type CommandCall, type CommandOutcome, runCommand } from './run-command.ts'

/** Exit codes with a meaning; any other one except 0 means that the provider is unavailable. */
const FAULTS: Readonly<Record<number, DnsProviderFault>> = {
  10: 'unauthorized',
  11: 'wrong_zone',
  12: 'rate_limited',
  13: 'conflict',
  14: 'unsupported',
}

/**
 * @returns what the command wrote to its standard output
 * @throws DnsProviderError, or the signal's reason
 */
export async function callCommand(call: CommandCall): Promise<string> {
  const { path, args, signal } = call
  signal.throwIfAborted()
  const shown = [path, ...args.slice(0, 2)].join(' ')
  const outcome = await runCommand(call).catch((error: unknown) => {
    throw new DnsProviderError('unavailable', `${shown}: ${(error as Error).message}`, { cause: error })
  })
  if (outcome.exitCode === 0) return outcome.stdout
  signal.throwIfAborted()
  throw new DnsProviderError(faultOf(outcome), `${shown}: ${reasonOf(outcome)}`)
}

function faultOf({ exitCode, isEnded }: CommandOutcome): DnsProviderFault {
  return isEnded || exitCode === undefined ? 'unavailable' : (FAULTS[exitCode] ?? 'unavailable')
}

/** The first line of the command's standard error, otherwise how it ended. */
function reasonOf({ exitCode, isEnded, stderr }: CommandOutcome): string {
  if (isEnded) return 'the command was ended, since it took too long'
  const [line = ''] = stderr.trim().split('\n')
  if (line !== '') return printableLine(line)
  return exitCode === undefined ? 'the command was ended by a signal' : `the command ended with ${exitCode}`
}

/** A line of output as one that can be shown. */
export function printableLine(line: string): string {
  return line
    .trim()
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, COMMAND_LINE_MAX_CHARS)
}
