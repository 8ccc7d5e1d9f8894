// The DNS provider `exec`: the operator's command changes the records; docs/operate/dns.md has its contract.

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { childEnvironment } from '../../../core/config/child-environment.ts'
import { SettingsError } from '../../../core/config/settings.ts'
import { COMMAND_LINE_MAX_CHARS } from '../limits.ts'
import type { Propagation } from '../propagation.ts'
import {
  type DnsProvider,
  DnsProviderError,
  type DnsProviderFault,
  type DnssecState,
  type NameAddresses,
} from '../provider.ts'
import { type CommandOutcome, runCommand } from './run-command.ts'

interface ExecProviderOptions {
  /** Absolute path of the command. */
  path: string
  /** The relay's host. */
  rootHost: string
  propagation: Propagation
  /** Variables of the relay's environment that the command does not get: its settings, some of which are secret. */
  withheld: readonly string[]
  /** How long one call may take, in milliseconds. @default 2 minutes */
  timeoutMs?: number | undefined
}

/** Exit codes with a meaning; any other one except 0 means that the provider is unavailable. */
const FAULTS: Readonly<Record<number, DnsProviderFault>> = {
  10: 'unauthorized',
  11: 'wrong_zone',
  12: 'rate_limited',
  13: 'conflict',
  14: 'unsupported',
}

/** @throws SettingsError when there is no such command, or this account may not run it */
export async function createExecProvider(options: ExecProviderOptions): Promise<DnsProvider> {
  try {
    await access(options.path, constants.X_OK)
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be run'
    throw new SettingsError('ACME_DNS_PROVIDER', `${options.path} ${reason}`)
  }
  return new ExecProvider(options)
}

class ExecProvider implements DnsProvider {
  readonly name = 'exec'
  readonly #options: ExecProviderOptions
  readonly #closing = new AbortController()

  constructor(options: ExecProviderOptions) {
    this.#options = options
  }

  async canAnswer(signal?: AbortSignal, tell?: (reason: string) => void): Promise<boolean> {
    const { propagation, rootHost } = this.#options
    const isThere = await propagation.hasNameServers(rootHost, this.#either(signal))
    if (!isThere) tell?.(`no name servers of ${rootHost} can be found`)
    return isThere
  }

  async addTxt(name: string, value: string, signal?: AbortSignal, wait?: 'taken'): Promise<void> {
    await this.#run(['add-txt', name, value], signal)
    if (wait !== 'taken') await this.waitForTxt(name, value, signal)
  }

  async waitForTxt(name: string, value: string, signal?: AbortSignal): Promise<void> {
    await this.#options.propagation.waitForTxt(name, value, this.#either(signal))
  }

  async removeTxt(name: string, value: string, signal?: AbortSignal): Promise<void> {
    await this.#run(['remove-txt', name, value], signal)
  }

  async setAddresses(name: string, { ipv4, ipv6 }: NameAddresses, signal?: AbortSignal): Promise<void> {
    await this.#run(['set-addresses', name, ...ipv4, ...ipv6], signal)
  }

  async dnssec(signal?: AbortSignal): Promise<DnssecState> {
    const lines = (await this.#run(['dnssec'], signal)).split('\n')
    const read = (key: string): string =>
      printable(lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1) ?? '')
    return { state: read('state'), dsRecord: read('ds'), message: read('message') }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the relay ends'))
  }

  /** @returns what the command wrote to its standard output */
  async #run(args: readonly string[], signal?: AbortSignal): Promise<string> {
    const { path, withheld, timeoutMs } = this.#options
    const either = this.#either(signal)
    either.throwIfAborted()
    const call = [path, ...args.slice(0, 2)].join(' ')
    const outcome = await runCommand({
      path,
      args,
      env: childEnvironment(withheld),
      signal: either,
      timeoutMs,
    }).catch((error: unknown) => {
      throw new DnsProviderError('unavailable', `${call}: ${(error as Error).message}`, { cause: error })
    })
    if (outcome.exitCode === 0) return outcome.stdout
    either.throwIfAborted()
    throw new DnsProviderError(faultOf(outcome), `${call}: ${reasonOf(outcome)}`)
  }

  #either(signal: AbortSignal | undefined): AbortSignal {
    const { signal: closing } = this.#closing
    return signal === undefined ? closing : AbortSignal.any([closing, signal])
  }
}

function faultOf({ exitCode, isEnded }: CommandOutcome): DnsProviderFault {
  return isEnded || exitCode === undefined ? 'unavailable' : (FAULTS[exitCode] ?? 'unavailable')
}

/** The first line of the command's standard error, otherwise how it ended. */
function reasonOf({ exitCode, isEnded, stderr }: CommandOutcome): string {
  if (isEnded) return 'the relay ended the command, since it took too long'
  const [line = ''] = stderr.trim().split('\n')
  if (line !== '') return printable(line)
  return exitCode === undefined ? 'the command was ended by a signal' : `the command ended with ${exitCode}`
}

function printable(line: string): string {
  return line
    .trim()
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, COMMAND_LINE_MAX_CHARS)
}
