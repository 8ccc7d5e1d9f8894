// The DNS provider `exec`: the operator's command changes the records; docs/operate/dns.md has its contract.

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { callCommand, printableLine } from '@svc/dns/exec'
import { childEnvironment } from '../../core/config/child-environment.ts'
import { SettingsError } from '../../core/config/settings.ts'
import { PRIVATE_ZONE, type Propagation } from './propagation.ts'
import type { DnsProvider, DnssecState, NameAddresses } from './provider.ts'

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
    if (!isThere) tell?.(`no name servers of ${rootHost} can be found: ${PRIVATE_ZONE}`)
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
      printableLine(lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1) ?? '')
    return { state: read('state'), dsRecord: read('ds'), message: read('message') }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the relay ends'))
  }

  /** @returns what the command wrote to its standard output */
  async #run(args: readonly string[], signal?: AbortSignal): Promise<string> {
    const { path, withheld, timeoutMs } = this.#options
    const env = childEnvironment(withheld)
    return await callCommand({ path, args, env, signal: this.#either(signal), timeoutMs })
  }

  #either(signal: AbortSignal | undefined): AbortSignal {
    const { signal: closing } = this.#closing
    return signal === undefined ? closing : AbortSignal.any([closing, signal])
  }
}
