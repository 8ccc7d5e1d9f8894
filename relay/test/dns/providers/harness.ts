// Starts an external provider against its stand-in, with a state directory and a log of its own.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { type Dialect, FakeApi } from '../../../../dns/test/providers/fakes/fake-api.ts'
import type { Logger } from '../../../src/core/log/log.ts'
import type { DnsProvider } from '../../../src/features/dns/provider.ts'
import { openExternalProvider } from '../../../src/features/dns/providers/open-provider.ts'

export const ROOT_HOST = 'relay.example.com'

interface Started {
  provider: DnsProvider
  api: FakeApi
  /** Level and text of each line. */
  lines: string[]
  /** Another process of the same relay, after the first one ended without a word. */
  restart(): Promise<DnsProvider>
  identityPath: string
}

export interface StartOptions {
  /** @default that with the credentials of the stand-in */
  env?: (api: FakeApi) => Record<string, string>
  before?: (api: FakeApi) => unknown
  /** Of the credentials. @default 'whole' */
  access?: FakeApi['access']
  /** @default 'example.com' */
  zone?: string
  /** What the public DNS says. @default the provider's name servers at the zone */
  resolveNs?: (name: string) => Promise<string[]>
  waitForTxt?: (name: string, value: string) => Promise<void>
  deadlineMs?: number
  /** Between requests. @default 0 */
  pauseMs?: number
}

export async function start(dialect: Dialect, options: StartOptions = {}): Promise<Started> {
  const api = await FakeApi.start(dialect)
  const identityPath = await mkdtemp(join(tmpdir(), 'dns-records-'))
  const lines: string[] = []
  const open: DnsProvider[] = []
  onTestFinished(async () => {
    for (const provider of open) await provider.close()
    api.close()
    await rm(identityPath, { recursive: true })
    vi.unstubAllEnvs()
  })
  api.access = options.access ?? api.access
  api.zone.name = options.zone ?? api.zone.name
  await options.before?.(api)
  const env = options.env?.(api) ?? api.env
  // Google's library reads this variable itself.
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', env.GOOGLE_APPLICATION_CREDENTIALS)
  const { deadlineMs = 60_000 } = options
  const begin = async (): Promise<DnsProvider> => {
    const provider = await openExternalProvider(dialect.provider, {
      env,
      rootHost: ROOT_HOST,
      identityPath,
      log: logTo(lines),
      connection: { baseUrl: api.baseUrl, deadlineMs, pauseMs: options.pauseMs ?? 0 },
      propagation: { waitForTxt: options.waitForTxt ?? (async () => {}) },
      resolveNs:
        options.resolveNs ?? (async (name) => (name === api.zone.name ? [...dialect.nameServers] : [])),
      firstPauseMs: 1,
    })
    open.push(provider)
    return provider
  }
  return { provider: await begin(), api, lines, restart: begin, identityPath }
}

export function logTo(lines: string[]): Logger {
  const write =
    (level: string) =>
    (fields: object, text: string): void =>
      void lines.push(`${level} ${text} ${JSON.stringify(fields)}`)
  return { info: write('info'), warn: write('warn'), error: write('error') } as unknown as Logger
}
