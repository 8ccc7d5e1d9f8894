// A relay whose host is no localhost, with a browser that finds and trusts it: what a page shows to people whose devices can
// reach the relay.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Browser, BrowserType } from '@playwright/test'
import { createCa, createLeaf } from '../../relay/src/core/certificates/development-ca.ts'
import { chromiumOptions, createHome } from '../../tools/browser/chromium.ts'
import { freePort } from '../../tools/network/free-port.ts'
import { startRelay } from '../../tools/relay/process.ts'

const HOST = 'relay.test'

export interface NamedRelay {
  url: string
  browser: Browser
  /** Ends the relay alone. */
  stop(): Promise<void>
  close(): Promise<void>
}

/** @param env settings beside its URL and its directory */
export async function startNamedRelay(
  chromium: BrowserType,
  env: Record<string, string> = {},
): Promise<NamedRelay> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-e2e-named-'))
  const authority = createCa(HOST)
  const leaf = createLeaf(authority, HOST)
  await writeFile(path.join(directory, 'fullchain.pem'), leaf.chain)
  await writeFile(path.join(directory, 'privatekey.pem'), leaf.key, { mode: 0o600 })
  const caFile = path.join(directory, 'root.pem')
  await writeFile(caFile, authority.certificate)
  const url = `https://${HOST}:${await freePort()}`
  const relay = await startRelay({ env: { SVC_URL: url, IDENTITY_PATH: directory, ...env } })
  const home = await createHome(caFile)
  const options = chromiumOptions(home.path)
  const rules = `--host-resolver-rules=MAP ${HOST} 127.0.0.1, MAP *.${HOST} 127.0.0.1`
  const browser = await chromium.launch({ ...options, args: [...(options.args ?? []), rules] })
  return {
    url,
    browser,
    stop: () => relay.stop(),
    close: async () => {
      await browser.close()
      await relay.stop()
      await home.remove()
      await rm(directory, { recursive: true })
    },
  }
}
