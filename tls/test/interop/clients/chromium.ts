// Chromium, headless.

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startBrowser } from '../browser.ts'
import type { Client } from '../client.ts'
import { ask } from '../process.ts'
import { makeDatabase } from './nss.ts'

const FILES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const ONE_SUITE = 'it always offers all three suites, and we prefer AES-128-GCM'
const NO_OPTION = 'a page has no say in it'

export const chromium: Client = {
  name: 'chromium',
  install: 'apt-get install chromium libnss3-tools, or name one in CHROMIUM_PATH',
  find: async () => {
    const file = process.env.CHROMIUM_PATH ?? FILES.find((candidate) => existsSync(candidate))
    if (file === undefined || (await ask('certutil', '-H')) === undefined) return undefined
    const version = /\d+(?:\.\d+){3}/.exec((await ask(file, '--version')) ?? '')?.[0]
    if (version === undefined) return undefined
    return {
      version,
      cannot: {
        AES256: ONE_SUITE,
        CHACHA: ONE_SUITE,
        X25519: 'it always offers X25519MLKEM768, and we prefer that',
        'P-256': NO_OPTION,
        'P-384': NO_OPTION,
        Ed25519: 'it accepts no Ed25519 certificates',
        HRR: 'it always sends a share that we have',
        'KU in': NO_OPTION,
        padding: NO_OPTION,
        export: NO_OPTION,
        cert: 'it would ask its user',
      },
      prepare: async ({ directory, credentials }) => {
        const home = join(directory, 'chromium')
        mkdirSync(home)
        // Where it looks for more authorities than its own.
        await makeDatabase(join(home, '.pki/nssdb'), credentials)
        return startBrowser((page) => ({ command: file, args: [...OPTIONS, page], env: { HOME: home } }))
      },
    }
  },
}

const OPTIONS: readonly string[] = [
  '--headless',
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // A headless one ends with its page otherwise.
  '--remote-debugging-port=0',
]
