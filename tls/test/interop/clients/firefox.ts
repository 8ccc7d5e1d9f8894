// Firefox, headless. What it offers is set by preferences, which it reads when it starts.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, startBrowser } from '../browser.ts'
import type { Client, Exchange, Suite, Task, Workspace } from '../client.ts'
import { ask } from '../process.ts'
import { makeDatabase } from './nss.ts'

const COMMANDS = ['firefox-esr', 'firefox']
const NO_OPTION = 'a page has no say in it'
const SUITES: Record<Suite, string> = {
  'AES-128-GCM': 'security.tls13.aes_128_gcm_sha256',
  'AES-256-GCM': 'security.tls13.aes_256_gcm_sha384',
  'CHACHA20-POLY1305': 'security.tls13.chacha20_poly1305_sha256',
}
const QUIET: Record<string, boolean | number | string> = {
  'app.normandy.enabled': false,
  'app.update.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.proxy.type': 0,
  'toolkit.telemetry.enabled': false,
}

export const firefox: Client = {
  name: 'firefox',
  install: 'apt-get install firefox-esr libnss3-tools',
  find: async () => {
    if ((await ask('certutil', '-H')) === undefined) return undefined
    for (const command of COMMANDS) {
      const version = /Mozilla Firefox (\S+)/.exec((await ask(command, '--version')) ?? '')?.[1]
      if (version !== undefined) return found(command, version)
    }
    return undefined
  },
}

function found(command: string, version: string) {
  return {
    version,
    cannot: {
      'P-256': 'it always sends a share of X25519, and we prefer that',
      'P-384': 'it always sends a share of X25519, and we prefer that',
      Ed25519: 'it accepts no Ed25519 certificates',
      HRR: 'it always sends a share that we have',
      'KU in': NO_OPTION,
      padding: NO_OPTION,
      export: NO_OPTION,
      cert: 'it would ask its user',
    },
    prepare: async (workspace: Workspace) => {
      const browsers = new Map<string, Promise<Browser>>()
      const browserFor = (task: Task) => {
        const preferences = JSON.stringify(preferencesFor(task))
        const known = browsers.get(preferences)
        if (known !== undefined) return known
        const browser = start(command, workspace, `firefox-${browsers.size}`, preferences)
        browsers.set(preferences, browser)
        return browser
      }
      return {
        exchange: (task: Task) => later(browserFor(task).then((browser) => browser.exchange(task))),
        stop: async () => {
          for (const browser of browsers.values()) await (await browser).stop()
        },
      }
    },
  }
}

async function start(
  command: string,
  { directory, credentials }: Workspace,
  name: string,
  preferences: string,
) {
  const profile = join(directory, name)
  mkdirSync(profile)
  await makeDatabase(profile, credentials)
  const lines = Object.entries(JSON.parse(preferences)).map(([key, value]) => userPref(key, value))
  writeFileSync(join(profile, 'user.js'), lines.join('\n'))
  const args = ['--headless', '--no-remote', '--profile', profile]
  return startBrowser((page) => ({ command, args: [...args, page], env: { HOME: profile } }))
}

function preferencesFor({ suite, group }: Task): Record<string, boolean | number | string> {
  const suites = Object.entries(SUITES).map(([name, preference]) => [preference, (suite ?? name) === name])
  const hybrid = group === undefined || group === 'X25519MLKEM768'
  return { ...QUIET, ...Object.fromEntries(suites), 'security.tls.enable_kyber': hybrid }
}

function userPref(key: string, value: unknown): string {
  return `user_pref(${JSON.stringify(key)}, ${JSON.stringify(value)});`
}

function later(exchange: Promise<Exchange>): Exchange {
  return {
    outcome: exchange.then(({ outcome }) => outcome),
    leave: () => void exchange.then(({ leave }) => leave()),
  }
}
