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
  pid: number
  browser: Browser
  /** Arguments with which curl finds and trusts it. */
  curl: string[]
  /** Ends the relay alone. */
  stop(): Promise<void>
  close(): Promise<void>
}

/**
 * @param env settings beside its URL and its directory
 * @param isAtDefaultPort whether the browser finds it at the port of HTTPS, so that its addresses have no port
 */
export async function startNamedRelay(
  chromium: BrowserType,
  env: Record<string, string> = {},
  isAtDefaultPort = false,
): Promise<NamedRelay> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-e2e-named-'))
  const authority = createCa(HOST)
  const leaf = createLeaf(authority, HOST)
  await writeFile(path.join(directory, 'fullchain.pem'), leaf.chain)
  await writeFile(path.join(directory, 'privatekey.pem'), leaf.key, { mode: 0o600 })
  const caFile = path.join(directory, 'root.pem')
  await writeFile(caFile, authority.certificate)
  const port = await freePort()
  const url = `https://${HOST}${isAtDefaultPort ? '' : `:${port}`}`
  const relay = await startRelay({
    env: { SVC_URL: url, SNI_PORT: `${port}`, IDENTITY_PATH: directory, ...env },
  })
  const home = await createHome(caFile)
  const options = chromiumOptions(home.path)
  const place = isAtDefaultPort ? `127.0.0.1:${port}` : '127.0.0.1'
  const rules = `--host-resolver-rules=MAP ${HOST} ${place}, MAP *.${HOST} ${place}`
  const browser = await chromium.launch({ ...options, args: [...(options.args ?? []), rules] })
  return {
    url,
    pid: relay.pid,
    browser,
    curl: ['--cacert', caFile, '--connect-to', `::127.0.0.1:${port}`],
    stop: () => relay.stop(),
    close: async () => {
      await browser.close()
      await relay.stop()
      await home.remove()
      await rm(directory, { recursive: true })
    },
  }
}
