// A relay that offers small downloads to the machines of the installer's tests, behind a proxy that knows its name.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RELEASE_VERSION } from '../../src/version.ts'
import { type ConnectProxy, startConnectProxy } from './connect-proxy.ts'
import { bundleText, programText, writeDownloads } from './downloads.ts'
import type { InstallOptions } from './install-machine.ts'
import { startTestRelay, type TestRelay } from './relay.ts'

/** The executable of the platform that the tests run on. */
export const HERE: string = process.arch === 'arm64' ? 'linux-arm64' : 'linux-amd64'

export interface Installer {
  /** The directory of the downloads. */
  directory: string
  relay: TestRelay
  proxy: ConnectProxy
  /** Where a machine finds the relay. */
  at: InstallOptions
  /** Writes all downloads again: executables of these platforms, and the bundle. */
  offer(version: string, slugs?: readonly string[]): Promise<void>
  close(): Promise<void>
}

export async function startInstaller(): Promise<Installer> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-installer-'))
  const relay = await startTestRelay({ SVC_INSTALL_DIR: directory })
  const proxy = await startConnectProxy(relay.port)
  const offer = (version: string, slugs: readonly string[] = [HERE]): Promise<void> => {
    const programs = slugs.map((slug) => [slug, programText(version, slug)])
    return writeDownloads(directory, { ...Object.fromEntries(programs), 'svc.mjs': bundleText(version) })
  }
  await offer(RELEASE_VERSION)
  return {
    directory,
    relay,
    proxy,
    at: { url: relay.origin, caFile: join(relay.directory, 'ca.pem'), proxy: proxy.url },
    offer,
    close: async () => {
      proxy.close()
      await relay.close()
      await rm(directory, { recursive: true })
    },
  }
}
